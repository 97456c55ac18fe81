import { createHash } from 'node:crypto';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import { nameInReply } from '#core/config/catalog/model-name.ts';
import type { CachedCall } from '#core/gateway/facts.ts';
import { parseExactInSteps, mayContainLongNumbers, parseExact } from '#core/gateway/model-call/exact-json.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { bounds } from '#core/platform/bounds.ts';
import { dialects } from '#core/platform/errors/dialects.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { runInTurns, nextTurn, yieldIfLong } from '#core/platform/timing/turn.ts';
import { storedVersion } from './stored-reply.ts';

/** Do not change their order: it is part of the cache keys of replies already stored. */
const versionHeaders = Object.values(dialects)
  .toReversed()
  .flatMap((dialect) => dialect.versionHeaders);

/**
 * Computes the cache key of a request. Two requests are identical if they have the same account, address, format, format version and model,
 * and equivalent bodies. A short name and a public name count as the same model. An alias does not, because replies contain it.
 *
 * @throws GatewayError if the body is not a JSON object
 */
export async function computeCacheKey(exchange: Exchange, catalog: Catalog, accountId: string): Promise<string> {
  const { endpoint, format, headers, params, query } = exchange;
  const versions = versionHeaders.map((name) => headers[name] ?? null);
  // In some formats, the path contains the model and says whether to stream.
  const { id: pathModel, ...otherParams } = params;
  const { model: bodyModel, ...otherMembers } = await readExactBody(exchange);
  const models = [pathModel, bodyModel].map((requested) => identifyModel(requested, catalog));
  const address = [endpoint.path, otherParams, query.toString()];
  const head = [storedVersion, accountId, address, format?.name, versions, models];
  return computeHash(toCanonicalText([head, otherMembers]));
}

async function readExactBody({ body }: Exchange): Promise<JsonObject> {
  const parsed = await body.json();
  const text = await body.text();
  await yieldIfLong(text.length);
  if (!mayContainLongNumbers(text)) return parsed;
  return (await (text.length > bounds.stepwiseBody
    ? runInTurns(parseExactInSteps(text))
    : parseExact(text))) as JsonObject;
}

export async function findCalledModel(
  { body, params }: Exchange,
  catalog: Catalog,
): Promise<Pick<CachedCall, 'model' | 'modelName'> | undefined> {
  // In some formats, the path contains the model.
  const requested = params['id'] ?? (await body.json())['model'];
  if (typeof requested !== 'string') return undefined;
  const model = catalog.resolve(requested);
  return model && { model, modelName: nameInReply(model, requested) };
}

function identifyModel(requested: unknown, catalog: Catalog): unknown {
  const model = typeof requested === 'string' ? catalog.resolve(requested) : undefined;
  if (model === undefined) return requested;
  // After a reload, a model may have routes to a different upstream with different replies.
  const routeTargets = model.routes.map(({ id, upstream }) => [id, upstream.baseUrl]);
  return [model.id, nameInReply(model, requested as string), routeTargets];
}

const sliceLength = 4 * 1024 * 1024;

async function computeHash(text: string): Promise<string> {
  const hash = createHash('sha256');
  for (let start = 0; start < text.length; start += sliceLength) {
    if (start > 0) await nextTurn();
    hash.update(text.slice(start, start + sliceLength));
  }
  return hash.digest('hex');
}

/** Sorts members and prefixes strings with their length, so different objects never give the same text. */
function toCanonicalText(value: unknown): string {
  if (typeof value === 'string') return value.isWellFormed() ? `${value.length}"${value}` : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  // Long numbers keep their digits, because 2⁵³ and 2⁵³ + 1 are equal as doubles.
  if (JSON.isRawJSON(value)) return value.rawJSON;
  let text = '';
  if (Array.isArray(value)) {
    for (const entry of value) text += `${toCanonicalText(entry)},`;
    return `[${text}]`;
  }
  const members = value as JsonObject;
  for (const name of Object.keys(members).sort()) text += `${toCanonicalText(name)}:${toCanonicalText(members[name])},`;
  return `{${text}}`;
}
