import { bounds } from '#core/platform/bounds.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { exactInputSteps, exactSteps, mayHoldLongNumbers, parseExact } from '#core/gateway/model-call/exact-json.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { inTurns, nextTurn, turnFor } from '#core/platform/timing/turn.ts';
import type { ReplyContext } from '../canonical/codec.ts';
import type { KeptReasoning } from '../canonical/kept-reasoning.ts';
import type { ClientFormat, ModelEndpoint, Purpose } from '../formats/contract/descriptor.ts';
import { fold, type ParameterRules } from '../formats/contract/parameters.ts';
import { parseBody } from '../wire/members.ts';
import { someMember } from '../wire/top-level-members.ts';
import type { Thread } from './thread.ts';

/** The client's request, read once; every attempt starts from it. */
export interface ClientRequest {
  readonly format: ClientFormat;
  readonly purpose: Purpose;
  /** The model's name: as the client wrote it, and as answers carry it once the model has been found. */
  readonly model: string;
  readonly isStream: boolean;
  readonly bytes: Buffer;
  readonly text: string;
  readonly body: JsonObject;
  /** A text with long numbers, and its body with the inputs of calls exactly as they were written. */
  readonly exact?: { readonly text: string; readonly body: JsonObject } | undefined;
  /** Id of the response that this request continues. The response's items are in the body then, and its id is not. */
  readonly previousId?: string | undefined;
  /** The reasoning of earlier turns, for clients that cannot return it. */
  readonly kept?: KeptReasoning | undefined;
  readonly thread?: Thread | undefined;
}

/**
 * @throws GatewayError `invalid_request` when no model is named, or what reading the body throws
 */
export async function readClientRequest(
  { params, body: source }: Exchange,
  format: ClientFormat,
  { purpose, isStream }: ModelEndpoint,
): Promise<ClientRequest> {
  const body = await source.json();
  const model = format.client.isModelInPath === true ? params['id'] : body['model'];
  if (typeof model !== 'string' || model === '') {
    const message =
      model === undefined
        ? 'Missing required parameter: `model`. GET /v1/models lists all models.'
        : '`model` must be a string. GET /v1/models lists all models.';
    throw new GatewayError('invalid_request', message, { param: 'model' });
  }
  const read = { format, purpose, model, isStream: isStream ?? body['stream'] === true };
  const text = await source.text();
  if (text.length > bounds.stepwiseBody) await nextTurn();
  const given = isAmbiguous(text, format)
    ? await unambiguous(text, format)
    : { bytes: await source.bytes(), text, body };
  const isLong = given.text.length > bounds.stepwiseBody;
  if (isLong) await nextTurn();
  return { ...read, ...given, exact: isLong ? await exactOf(given.text) : undefined };
}

async function unambiguous(
  text: string,
  format: ClientFormat,
): Promise<Pick<ClientRequest, 'bytes' | 'text' | 'body'>> {
  const exact = await (text.length > bounds.stepwiseBody ? inTurns(exactSteps(text)) : parseExact(text));
  const written = writeUnambiguous(exact as JsonObject, format);
  await turnFor(written.length);
  return { bytes: Buffer.from(written), text: written, body: JSON.parse(written) as JsonObject };
}

/** Reads a long body here, in separate turns of the event loop, and not when it is first needed. */
async function exactOf(text: string): Promise<ClientRequest['exact']> {
  if (!mayHoldLongNumbers(text)) return undefined;
  return { text, body: (await inTurns(exactInputSteps(text))) as JsonObject };
}

/** The body, with the inputs of calls exactly as they were written. */
export function exactBody({ body, text, exact }: Pick<ClientRequest, 'body' | 'text' | 'exact'>): JsonObject {
  if (exact?.text === text) return exact.body;
  return mayHoldLongNumbers(text) ? (parseBody(text) ?? body) : body;
}

/** What the reply to a client's request is written with. */
export function replyContext(exchange: Exchange, client: ClientRequest): ReplyContext {
  return {
    id: shortId(exchange.id),
    model: client.model,
    created: Math.floor(exchange.receivedAt / 1000),
    request: { ...client.body, previous_response_id: client.previousId },
  };
}

/** The exchange's id without its prefix: each format has its own. */
export function shortId(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}

/**
 * True when parsers may read different members in a body. It may have a member twice: some parsers take the first, others
 * the last. It may have one in another case: Go's encoding/json takes `Model` for `model`. Or Gemini's path names the model,
 * and its body names another. The gateway has authorised what JSON.parse has read, and the upstream must read the same.
 *
 * Only the outermost members are compared. The gateway decides nothing by what is below: a message with two roles is the
 * client's to explain, and reaches the upstream as it is.
 */
export function isAmbiguous(text: string, { client: { parameters, isModelInPath } }: ClientFormat): boolean {
  const seen = new Set<string>();
  return someMember(text, (begin, end) => {
    const name = text.slice(begin + 1, end);
    // No known name needs escapes, so an escape may hide a duplicate.
    if (name.includes('\\') || isVariant(name, parameters)) return true;
    if (isModelInPath === true && name === 'model') return true;
    const documented = parameters.documented.get(name) ?? name;
    if (seen.has(documented)) return true;
    seen.add(documented);
    return false;
  });
}

/**
 * The text of a body with each member once, as the gateway has read it.
 *
 * @param body with its numbers as they were written, see exact-json.ts
 */
export function writeUnambiguous(body: JsonObject, { client: { parameters, isModelInPath } }: ClientFormat): string {
  const isRead = (name: string): boolean => {
    if (isVariant(name, parameters) || (isModelInPath === true && name === 'model')) return false;
    const documented = parameters.documented.get(name) ?? name;
    return documented === name || !Object.hasOwn(body, documented);
  };
  return JSON.stringify(Object.fromEntries(Object.entries(body).filter(([name]) => isRead(name))));
}

/** True for the name of a parameter in another case. */
function isVariant(name: string, { documented, folded }: ParameterRules): boolean {
  return !documented.has(name) && folded.has(fold(name));
}

/** Finds the model of a short name, a public name or an alias. @throws GatewayError `model_not_found`, with the nearest name */
export function findModel({ catalog }: Host, name: string): Model {
  const model = catalog.resolve(name);
  if (model !== undefined) return model;
  const suggestion = catalog.suggest(name);
  const hint = suggestion === undefined ? 'GET /v1/models lists all models.' : `Did you mean "${suggestion}"?`;
  const message = `Model "${name.slice(0, 200)}" not found. ${hint}`;
  throw new GatewayError('model_not_found', message, { param: 'model' });
}
