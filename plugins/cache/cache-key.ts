import { hash } from 'node:crypto';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { storedVersion } from './stored-reply.ts';

/** Headers that change what a body means, and so the answer. */
const dialectHeaders = ['anthropic-version', 'anthropic-beta', 'openai-beta'];

/**
 * What makes two requests the same: who asks, where, in which format and version of it, and what the body means.
 *
 * @param text the body, a JSON object
 */
export function cacheKey(exchange: Exchange, accountId: string, text: string): string {
  const { endpoint, format, headers, params, query } = exchange;
  const versions = dialectHeaders.map((name) => headers[name] ?? null);
  // In the address some formats name the model, and how the answer is to be streamed.
  const address = [endpoint.path, params, query.toString()];
  const head = JSON.stringify([storedVersion, accountId, address, format?.name, versions]);
  return hash('sha256', head + canonicalJson(parseExactly(text)));
}

/** JSON, but for integers that no number of ours can hold. */
type ExactValue = string | number | boolean | null | BigNumber | ExactValue[] | { [name: string]: ExactValue };

/** Digits as they were written: 2⁵³ and 2⁵³ + 1 would be the same number. */
class BigNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** What a reviver is told beside key and value. Source: ECMAScript, "JSON.parse source text access". */
interface Context {
  readonly source?: string;
}

function parseExactly(text: string): ExactValue {
  return JSON.parse(text, keepDigits) as ExactValue;
}

function keepDigits(_name: string, value: unknown, { source = '' }: Context = {}): unknown {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER ? new BigNumber(source) : value;
}

/** JSON in which neither the order of keys nor spacing makes a difference. The order of lists does: it has a meaning. */
function canonicalJson(value: ExactValue): string {
  if (value instanceof BigNumber) return value.digits;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`);
  return `{${members.join(',')}}`;
}
