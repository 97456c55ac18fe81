import { hash } from 'node:crypto';
import { bounds } from '#core/platform/bounds.ts';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { someMember } from '#core/platform/json-scan.ts';
import { exactSteps, parseExact } from '#core/gateway/model-call/exact-json.ts';
import type { BodyOutline, BodySource, Exchange } from '#core/gateway/pipeline/exchange.ts';
import { runInTurns, nextTurn, turnFor } from '#core/platform/timing/turn.ts';
import type { ReplyContext } from '../canonical/codec.ts';
import type { KeptReasoning } from '../canonical/kept-reasoning.ts';
import type { ClientFormat, ModelEndpoint, Purpose } from '../formats/contract/descriptor.ts';
import { fold, type ParameterRules } from '../formats/contract/parameters.ts';
import { RequestContent } from './request-content.ts';
import type { Thread } from './thread.ts';

/** Data of a request outside of its body. */
interface Said {
  readonly format: ClientFormat;
  readonly purpose: Purpose;
  /** See `ModelEndpoint`. */
  readonly upstreamPath?: string | undefined;
  /** The model's name: as the client wrote it, and as answers carry it once the model has been found. */
  readonly model: string;
  readonly isStream: boolean;
  /** Id of the response that this request continues. The response's items are in the body then, and its id is not. */
  readonly previousId?: string | undefined;
  /** The reasoning of earlier turns, for clients that cannot return it. */
  readonly kept?: KeptReasoning | undefined;
  readonly thread?: Thread | undefined;
  /** End user of requests to upstreams; omitted if none is sent. */
  readonly endUser?: string | undefined;
  /** Notes on features that were omitted for every route. */
  readonly notes?: readonly string[] | undefined;
}

/** The client's request, read once; every attempt starts from it. */
export class ClientRequest implements Said {
  readonly format: ClientFormat;
  readonly purpose: Purpose;
  readonly upstreamPath: string | undefined;
  readonly model: string;
  readonly isStream: boolean;
  readonly previousId: string | undefined;
  readonly kept: KeptReasoning | undefined;
  readonly thread: Thread | undefined;
  readonly endUser: string | undefined;
  readonly notes: readonly string[] | undefined;
  readonly content: RequestContent;

  constructor(said: Said, content: RequestContent) {
    this.format = said.format;
    this.purpose = said.purpose;
    this.upstreamPath = said.upstreamPath;
    this.model = said.model;
    this.isStream = said.isStream;
    this.previousId = said.previousId;
    this.kept = said.kept;
    this.thread = said.thread;
    this.endUser = said.endUser;
    this.notes = said.notes;
    this.content = content;
  }

  /** The whole body. Where the middle of long texts does not matter, `outline` costs less. */
  get body(): JsonObject {
    return this.content.body;
  }

  get outline(): JsonObject {
    return this.content.outline;
  }

  with(changes: Partial<Said>, content: RequestContent = this.content): ClientRequest {
    return new ClientRequest({ ...this, ...changes }, content);
  }
}

/** The hashed end user for a route; undefined if the route gets the client's own, and for counting tokens. */
export function endUserFor({ endUser, purpose }: ClientRequest, { upstream }: Route): string | undefined {
  return purpose === 'answer' && upstream.endUser === 'hash' ? endUser : undefined;
}

const markLength = 16; // characters: 96 bits

/** The mark of the account in prompts for a route whose cache it does not share; another one than the end user's id. */
export function cacheMarkFor({ endUser, purpose }: ClientRequest, { upstream }: Route): string | undefined {
  if (purpose !== 'answer' || upstream.isolatesCache !== true || endUser === undefined) return undefined;
  return hash('sha256', `prompt cache of ${endUser}`, 'base64url').slice(0, markLength);
}

/**
 * @throws GatewayError `invalid_request` when no model is named, or what reading the body throws
 */
export async function readClientRequest(
  { params, body: source }: Exchange,
  format: ClientFormat,
  { purpose, upstreamPath, isStream }: ModelEndpoint,
): Promise<ClientRequest> {
  const reading = source.outline?.();
  const outline = reading === undefined ? undefined : await reading;
  const body = outline?.body ?? (await source.json());
  const { client } = format;
  const model = requireModel(client.isModelInPath === true ? params['id'] : body['model']);
  const streams = isStream ?? client.isStream?.(body) ?? body['stream'] === true;
  const said = { format, purpose, upstreamPath, model, isStream: streams };
  return new ClientRequest(said, await readContent(source, outline, format));
}

/** @throws GatewayError `invalid_request` */
export function requireModel(model: JsonValue | undefined): string {
  if (typeof model === 'string' && model !== '') return model;
  const wrong = model === undefined ? 'Missing required parameter: `model`.' : '`model` must be a string.';
  throw new GatewayError('invalid_request', `${wrong} GET /v1/models lists all models.`, { param: 'model' });
}

async function readContent(
  source: BodySource,
  outline: BodyOutline | undefined,
  format: ClientFormat,
): Promise<RequestContent> {
  if (outline !== undefined && !isAmbiguous(outline.text, format)) return RequestContent.outlined(outline);
  const bytes = await source.bytes();
  const text = await source.text();
  if (text.length > bounds.stepwiseBody) await nextTurn();
  const content = isAmbiguous(text, format)
    ? await unambiguous(text, format)
    : RequestContent.whole(text, await source.json(), bytes);
  if (content.isLong) await nextTurn();
  if (content.isLong) await content.load(source);
  return content;
}

async function unambiguous(text: string, format: ClientFormat): Promise<RequestContent> {
  const exact = await (text.length > bounds.stepwiseBody ? runInTurns(exactSteps(text)) : parseExact(text));
  const written = writeUnambiguous(exact as JsonObject, format);
  await turnFor(written.length);
  return RequestContent.whole(written, JSON.parse(written) as JsonObject);
}

/**
 * What the reply to a client's request is written with. A class: for an object literal with a getter, V8 makes a map that keeps the
 * getter, and with it the request, in memory until the next full collection of garbage.
 */
class ClientReplyContext implements ReplyContext {
  readonly id: string;
  readonly model: string;
  readonly created: number;
  readonly outline: JsonObject;
  readonly #client: ClientRequest;

  constructor(exchange: Exchange, client: ClientRequest) {
    this.id = shortId(exchange.id);
    this.model = client.model;
    this.created = Math.floor(exchange.receivedAt / 1000);
    this.outline = client.outline;
    this.#client = client;
  }

  get request(): JsonObject {
    return { ...this.#client.body, previous_response_id: this.#client.previousId };
  }
}

export function replyContext(exchange: Exchange, client: ClientRequest): ReplyContext {
  return new ClientReplyContext(exchange, client);
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
function isAmbiguous(text: string, { client: { parameters, isModelInPath } }: ClientFormat): boolean {
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
function writeUnambiguous(body: JsonObject, { client: { parameters, isModelInPath } }: ClientFormat): string {
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
  if (catalog.isUnavailable(name)) {
    const message = `Model "${name.slice(0, 200)}" is out of service: all of its routes are off. GET /v1/models lists the others.`;
    throw new GatewayError('model_not_found', message, { param: 'model' });
  }
  const suggestion = catalog.suggest(name);
  const hint = suggestion === undefined ? 'GET /v1/models lists all models.' : `Did you mean "${suggestion}"?`;
  const message = `Model "${name.slice(0, 200)}" not found. ${hint}`;
  throw new GatewayError('model_not_found', message, { param: 'model' });
}
