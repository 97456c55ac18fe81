import { hash } from 'node:crypto';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { parseExactInSteps, parseExact } from '#core/gateway/model-call/exact-json.ts';
import type { BodyOutline, BodySource, Exchange } from '#core/gateway/pipeline/exchange.ts';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { JsonCursor, type MemberPosition } from '#core/platform/json-scan.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { runInTurns, nextTurn, yieldIfLong } from '#core/platform/timing/turn.ts';
import type { ReplyContext } from '../canonical/codec.ts';
import type { StoredReasoning } from '../canonical/stored-reasoning.ts';
import type { ClientFormat, ModelEndpoint, Purpose } from '../formats/contract/descriptor.ts';
import { foldCase, type ParameterRules } from '../formats/contract/parameters.ts';
import { RequestContent } from './request-content.ts';
import type { Thread } from './thread.ts';

interface RequestProperties {
  readonly format: ClientFormat;
  readonly purpose: Purpose;
  readonly upstreamPath?: string | undefined;
  readonly model: string; // as requested; once the model is found, as in replies
  readonly isStream: boolean;
  /** If set, the body has that response's items instead of its id. */
  readonly previousId?: string | undefined;
  readonly storedReasoning?: StoredReasoning | undefined;
  readonly thread?: Thread | undefined;
  readonly endUser?: string | undefined;
  readonly notes?: readonly string[] | undefined; // on features that are omitted for every route
}

/** Read once; every attempt starts from it. */
export class ClientRequest implements RequestProperties {
  readonly format: ClientFormat;
  readonly purpose: Purpose;
  readonly upstreamPath: string | undefined;
  readonly model: string;
  readonly isStream: boolean;
  readonly previousId: string | undefined;
  readonly storedReasoning: StoredReasoning | undefined;
  readonly thread: Thread | undefined;
  readonly endUser: string | undefined;
  readonly notes: readonly string[] | undefined;
  readonly content: RequestContent;

  constructor(properties: RequestProperties, content: RequestContent) {
    this.format = properties.format;
    this.purpose = properties.purpose;
    this.upstreamPath = properties.upstreamPath;
    this.model = properties.model;
    this.isStream = properties.isStream;
    this.previousId = properties.previousId;
    this.storedReasoning = properties.storedReasoning;
    this.thread = properties.thread;
    this.endUser = properties.endUser;
    this.notes = properties.notes;
    this.content = content;
  }

  /** The whole body. `outline` is cheaper if the middle of long texts does not matter. */
  get body(): JsonObject {
    return this.content.body;
  }

  get outline(): JsonObject {
    return this.content.outline;
  }

  with(changes: Partial<RequestProperties>, content: RequestContent = this.content): ClientRequest {
    return new ClientRequest({ ...this, ...changes }, content);
  }
}

/** Returns the hashed end user to send to a route; undefined when counting tokens, or if the route gets the client's own value. */
export function selectEndUser({ endUser, purpose }: ClientRequest, { upstream }: Route): string | undefined {
  return purpose === 'answer' && upstream.endUser === 'hash' ? endUser : undefined;
}

const cacheMarkLength = 16; // characters: 96 bits

/** Derives the mark that an account gets in prompts, for a route that isolates caches by account. It differs from the end user's id. */
export function deriveCacheMark({ endUser, purpose }: ClientRequest, { upstream }: Route): string | undefined {
  if (purpose !== 'answer' || upstream.isolatesCache !== true || endUser === undefined) return undefined;
  return hash('sha256', `prompt cache of ${endUser}`, 'base64url').slice(0, cacheMarkLength);
}

/**
 * Reads a request. Only parses the outline of a long body if its bytes may be passed through.
 *
 * @throws GatewayError `invalid_request` if no model is named, or an error in reading the body
 */
export async function readClientRequest(
  { params, body: source }: Exchange,
  format: ClientFormat,
  { purpose, upstreamPath, isStream }: ModelEndpoint,
): Promise<ClientRequest> {
  const outlining = source.outline?.();
  const outline = outlining === undefined ? undefined : await outlining;
  const body = outline?.body ?? (await source.json());
  const { client } = format;
  const model = requireModel(client.isModelInPath === true ? params['id'] : body['model']);
  const isStreamRequested = isStream ?? client.isStream?.(body) ?? body['stream'] === true;
  const properties = { format, purpose, upstreamPath, model, isStream: isStreamRequested };
  return new ClientRequest(properties, await readContent(source, outline, format));
}

/** @throws GatewayError `invalid_request` */
export function requireModel(model: JsonValue | undefined): string {
  if (typeof model === 'string' && model !== '') return model;
  const problem = model === undefined ? 'Missing required parameter: `model`.' : '`model` must be a string.';
  throw new GatewayError('invalid_request', `${problem} GET /v1/models lists all models.`, { param: 'model' });
}

async function readContent(
  source: BodySource,
  outline: BodyOutline | undefined,
  format: ClientFormat,
): Promise<RequestContent> {
  if (outline !== undefined && !isAmbiguous(outline.text, format)) return RequestContent.fromOutline(outline);
  const bytes = await source.bytes();
  const text = await source.text();
  if (text.length > bounds.stepwiseBody) await nextTurn();
  const content = isAmbiguous(text, format)
    ? await readUnambiguous(text, format)
    : RequestContent.fromText(text, await source.json(), bytes);
  if (content.isLong) await nextTurn();
  if (content.isLong) await content.load(source);
  return content;
}

async function readUnambiguous(text: string, format: ClientFormat): Promise<RequestContent> {
  const exact = await (text.length > bounds.stepwiseBody ? runInTurns(parseExactInSteps(text)) : parseExact(text));
  const rewrittenText = writeUnambiguous(exact as JsonObject, format);
  await yieldIfLong(rewrittenText.length);
  return RequestContent.fromText(rewrittenText, JSON.parse(rewrittenText) as JsonObject);
}

/**
 * A class, because for an object literal with a getter V8 creates a map that keeps the getter and the request in memory until the next full
 * garbage collection.
 */
class ClientReplyContext implements ReplyContext {
  readonly id: string;
  readonly model: string;
  readonly created: number;
  readonly outline: JsonObject;
  readonly #client: ClientRequest;

  constructor(exchange: Exchange, client: ClientRequest) {
    this.id = stripIdPrefix(exchange.id);
    this.model = client.model;
    this.created = Math.floor(exchange.receivedAt / 1000);
    this.outline = client.outline;
    this.#client = client;
  }

  get request(): JsonObject {
    return { ...this.#client.body, previous_response_id: this.#client.previousId };
  }
}

export function createReplyContext(exchange: Exchange, client: ClientRequest): ReplyContext {
  return new ClientReplyContext(exchange, client);
}

/** Returns the exchange's id without its prefix, because each format adds its own. */
export function stripIdPrefix(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}

/**
 * Returns true if parsers may read different members from a body. A member may be repeated: some parsers use the first value, others the
 * last. Its case may differ: Go's encoding/json reads `Model` as `model`. Or Gemini's path and body may name different models. The gateway
 * authorizes the members that JSON.parse reads, and the upstream must read the same ones.
 *
 * Only top-level members are checked, because the gateway never bases a decision on nested ones: a message with two roles is the client's
 * responsibility and reaches the upstream unchanged.
 */
function isAmbiguous(text: string, { client: { parameters, isModelInPath } }: ClientFormat): boolean {
  const seenNames = new Set<string>();
  const isAmbiguousMember = ({ name }: MemberPosition): boolean => {
    // No parameter's name needs escapes, so an escape may hide a duplicate.
    if (name.includes('\\') || isCaseVariant(name, parameters)) return true;
    if (isModelInPath === true && name === 'model') return true;
    const documented = parameters.documentedNames.get(name) ?? name;
    if (seenNames.has(documented)) return true;
    seenNames.add(documented);
    return false;
  };
  return new JsonCursor(text).findMember(isAmbiguousMember) !== undefined;
}

/** Writes each member once, as the gateway reads it. `body` has its numbers exactly as written, see exact-json.ts. */
function writeUnambiguous(body: JsonObject, { client: { parameters, isModelInPath } }: ClientFormat): string {
  const isEffective = (name: string): boolean => {
    if (isCaseVariant(name, parameters) || (isModelInPath === true && name === 'model')) return false;
    const documented = parameters.documentedNames.get(name) ?? name;
    return documented === name || !Object.hasOwn(body, documented);
  };
  return JSON.stringify(Object.fromEntries(Object.entries(body).filter(([name]) => isEffective(name))));
}

function isCaseVariant(name: string, { documentedNames, foldedNames }: ParameterRules): boolean {
  return !documentedNames.has(name) && foldedNames.has(foldCase(name));
}

/** @throws GatewayError `model_not_found`, which suggests the nearest name */
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
