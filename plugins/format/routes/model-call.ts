import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Adapter, ReplyReader, RouteCalls, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { nextTurn } from '#core/platform/timing/turn.ts';
import { isClientTextFormat } from '../formats/contract/descriptor.ts';
import { type ClientRequest } from '../request/client-request.ts';
import { hasHostedTools, hasDroppedTool } from '../request/hosted-tools.ts';
import { RequestContent } from '../request/request-content.ts';
import { openingOf } from '../request/opening.ts';
import { readSession } from '../request/session.ts';
import { threadNotFound } from '../request/thread.ts';
import { upstreamFormat } from '../request/upstream-format.ts';
import { isForeign } from '../state/threads.ts';
import { isPassedOn } from './pass-through/adapt-request.ts';
import { PassThrough } from './pass-through/pass-through.ts';
import { EmbeddingCall, isEmbeddingCall } from './embeddings/embedding-call.ts';
import { type PreparedCall, PreparedCalls } from './translation/prepared-call.ts';
import { isResumable, resumptionOf } from './translation/resumption.ts';
import { CallTranslator } from './translation/translator.ts';

/** A call that a route can serve, if necessary without the images in tool results. */
export function openCall(exchange: Exchange, model: Model, request: ClientRequest): ModelCall {
  return servable(exchange, model, request, new ModelCall(exchange, model, request));
}

/** The same for a long request, whose steps are taken in turns. */
export async function openLongCall(exchange: Exchange, model: Model, request: ClientRequest): Promise<ModelCall> {
  await nextTurn();
  const call = new ModelCall(exchange, model, request);
  call.decode();
  await nextTurn();
  return servable(exchange, model, request, call);
}

function servable(exchange: Exchange, model: Model, request: ClientRequest, call: ModelCall): ModelCall {
  const omitted = call.refusal === undefined ? undefined : omitResultImages(request);
  if (omitted === undefined) return call;
  const without = new ModelCall(exchange, model, omitted, [omissionNote]);
  return without.refusal === undefined ? without : call;
}

/**
 * The adapter of a model call: bytes pass through to a route of the client's format, and requests to any other are
 * translated. Most requests are prepared for one route only.
 */
export class ModelCall implements Adapter {
  readonly model: Model;
  readonly modelName: string;
  readonly isStream: boolean;
  readonly session: string | undefined;
  readonly #exchange: Exchange;
  readonly #request: ClientRequest;
  readonly #translator: CallTranslator;
  readonly #prepared = new PreparedCalls((route) => this.#open(route));
  readonly #readers: ReplyReader[] = [];
  readonly #isResumable: boolean;
  readonly #hasHostedTools: boolean;
  readonly #notes: readonly string[];
  #opening: string | undefined;

  /** @param notes on the request, for any route */
  constructor(exchange: Exchange, model: Model, request: ClientRequest, notes: readonly string[] = []) {
    this.#notes = request.notes === undefined ? notes : [...request.notes, ...notes];
    this.model = model;
    this.modelName = request.model;
    this.isStream = request.isStream;
    this.session = request.thread?.session ?? readSession(exchange.headers, request.outline);
    this.#exchange = exchange;
    this.#request = request;
    this.#translator = new CallTranslator(exchange, request);
    this.#hasHostedTools = model.routes.length > 1 && hasHostedTools(request.outline);
    this.#isResumable =
      model.resume === true && request.thread === undefined && isResumable(request, this.#translator, model);
  }

  get opening(): string {
    const { outline, cut } = this.#request.content;
    return (this.#opening ??= openingOf(outline, cut));
  }

  /** A thread is known to the account of the vendor that began it. */
  get isBound(): boolean {
    return this.#request.thread !== undefined;
  }

  get isConversation(): boolean {
    const { format, purpose } = this.#request;
    return purpose === 'answer' && isClientTextFormat(format);
  }

  /** A route that runs the vendor's own tools before one that leaves them out. */
  prefers(route: Route): boolean {
    if (!this.#hasHostedTools) return true;
    const call = this.#prepared.find(route);
    return !(call instanceof GatewayError) && !hasDroppedTool(call.request.notes);
  }

  canServe(route: Route): boolean {
    return !(this.#prepared.find(route) instanceof GatewayError);
  }

  /** The notes on the request that the client gets if the first of the routes that can serve it does. */
  get expectedNotes(): readonly string[] {
    const route = this.model.routes.find((one) => this.canServe(one));
    return route === undefined ? [] : (this.encode(route).notes ?? []);
  }

  /** Reason why no route can serve the request; undefined if one can. */
  get refusal(): GatewayError | undefined {
    let first: GatewayError | undefined;
    for (const route of this.model.routes) {
      const call = this.#prepared.find(route);
      if (!(call instanceof GatewayError)) return undefined;
      first ??= call;
    }
    return first;
  }

  /** Decodes the request now, if the first route needs that, and not together with the step that follows. */
  decode(): void {
    const [route] = this.model.routes;
    if (route === undefined || upstreamFormat(route, this.#request) === this.#request.format) return;
    try {
      this.#translator.read();
    } catch {
      // The route is asked again, and reports it.
    }
  }

  encode(route: Route): UpstreamRequest {
    const { request } = this.#prepared.get(route);
    return this.#notes.length === 0 ? request : { ...request, notes: [...(request.notes ?? []), ...this.#notes] };
  }

  read(route: Route): ReplyReader {
    const reader = this.#prepared.get(route).read();
    this.#readers.push(reader);
    return reader;
  }

  /** The finished answer as the client gets it; see `ReplyReader.finished`. At most one of the readers gets that far. */
  finished(): JsonObject | undefined {
    for (const reader of this.#readers) {
      const answer = reader.finished?.();
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  resume(broken: ReplyReader): RouteCalls | undefined {
    return this.#isResumable ? resumptionOf(broken, this.#request, this.#translator) : undefined;
  }

  #open(route: Route): PreparedCall {
    const format = upstreamFormat(route, this.#request);
    if (isEmbeddingCall(this.#request, format))
      return new EmbeddingCall(this.#exchange.id, this.#request, route, format);
    if (isForeign(this.#request, route)) throw threadNotFound();
    if (format === this.#request.format && !needsTranslation(route, this.#request))
      return new PassThrough(this.#exchange, this.#request, route, this.#isResumable);
    return this.#translator.open(route, format);
  }
}

/** True when every route gets the client's bytes: the texts of a long request are not needed. */
export function isPassedToAll({ routes, resume }: Model, request: ClientRequest): boolean {
  return resume !== true && request.purpose === 'answer' && routes.every((route) => isPassedTo(route, request));
}

function isPassedTo(route: Route, request: ClientRequest): boolean {
  try {
    const format = upstreamFormat(route, request);
    return (
      format === request.format &&
      !isEmbeddingCall(request, format) &&
      !needsTranslation(route, request) &&
      isPassedOn(request, route)
    );
  } catch {
    // It is asked again, and reports it.
    return false;
  }
}

/**
 * True for requests that only a translation can adapt: freeform tools become functions, and their calls freeform again;
 * images in tool results become a user message; calls and results of a broken history are paired.
 */
function needsTranslation({ profile }: Route, { format, purpose, outline }: ClientRequest): boolean {
  const { text } = format.client;
  if (purpose !== 'answer' || text === undefined) return false;
  const { freeform_tools, tool_result_images, strict_calls } = profileIn(format.name, profile).quirks;
  if (!freeform_tools && text.hasFreeformTools?.(outline) === true) return true;
  if (strict_calls && text.isSingleAnswer(outline) && text.hasBrokenCalls?.(outline) === true) return true;
  return !tool_result_images && text.omitResultImages(outline) !== outline;
}

const omissionNote = 'approximated images in tool results as text';

/**
 * The request without the images in tool results; undefined when there are none. A conversation in which a tool has once
 * shown an image would be refused from there on, and the user could not take the image out again. Images of the user
 * stay: the user can send something else.
 */
function omitResultImages(request: ClientRequest): ClientRequest | undefined {
  const { format, outline, content } = request;
  if (!isClientTextFormat(format)) return undefined;
  const omit = (from: JsonObject): JsonObject => format.client.text.omitResultImages(from);
  if (omit(outline) === outline) return undefined;
  return request.with({}, RequestContent.whole(JSON.stringify(omit(content.exact)), omit(content.body)));
}
