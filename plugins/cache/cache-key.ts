import { hash } from 'node:crypto';
import type { Catalog } from '#core/catalog/catalog.ts';
import { nameInAnswer } from '#core/catalog/model-name.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { storedVersion } from './stored-reply.ts';

/** Headers that change the meaning of a body. */
const dialectHeaders = ['anthropic-version', 'anthropic-beta', 'openai-beta'];

/**
 * Requests are identical when account, address, format, its version, the model and the meaning of the body are. A short
 * name and a public one are the same model; an alias is not, because its answers carry the alias.
 *
 * @param text the body, a JSON object
 */
export function cacheKey(exchange: Exchange, catalog: Catalog, accountId: string, text: string): string {
  const { endpoint, format, headers, params, query } = exchange;
  const versions = dialectHeaders.map((name) => headers[name] ?? null);
  // Some formats have the model, and whether to stream, in the address.
  const { id: inPath, ...otherParams } = params;
  const { model: inBody, ...otherMembers } = parseExactly(text);
  const models = [inPath, inBody].map((requested) => identify(requested, catalog));
  const address = [endpoint.path, otherParams, query.toString()];
  const head = JSON.stringify([storedVersion, accountId, address, format?.name, versions, models]);
  return hash('sha256', head + canonicalJson(otherMembers));
}

/** The name in answers of the model that is asked; undefined when the catalog has none. */
export async function calledModel({ body, params }: Exchange, catalog: Catalog): Promise<string | undefined> {
  // Some formats have the model in the address.
  const requested = params['id'] ?? (await body.json())['model'];
  if (typeof requested !== 'string') return undefined;
  const model = catalog.resolve(requested);
  return model && nameInAnswer(model, requested);
}

/** The model and its name in answers; the value itself when it names no model. */
function identify(requested: ExactValue | undefined, catalog: Catalog): unknown {
  const model = typeof requested === 'string' ? catalog.resolve(requested) : undefined;
  return model === undefined ? requested : [model.id, nameInAnswer(model, requested as string)];
}

/** A JSON value in which integers that a number cannot hold are a `BigNumber`. */
type ExactValue = string | number | boolean | null | BigNumber | ExactValue[] | ExactObject;

interface ExactObject {
  readonly [name: string]: ExactValue;
}

/** The digits as they were written: as numbers, 2⁵³ and 2⁵³ + 1 would be equal. */
class BigNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** The third argument of a reviver. Source: ECMAScript, "JSON.parse source text access". */
interface Context {
  readonly source?: string;
}

function parseExactly(text: string): ExactObject {
  return JSON.parse(text, keepDigits) as ExactObject;
}

function keepDigits(_name: string, value: unknown, { source = '' }: Context = {}): unknown {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER ? new BigNumber(source) : value;
}

/** JSON with sorted keys and without white space, so that equal objects are equal texts. */
function canonicalJson(value: ExactValue): string {
  if (value instanceof BigNumber) return value.digits;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`);
  return `{${members.join(',')}}`;
}
