import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { Adapter, ReplyReader, RouteCalls, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { nextTurn } from '#core/platform/timing/turn.ts';
import { isClientTextFormat } from '../formats/contract/descriptor.ts';
import { type ClientRequest } from '../request/client-request.ts';
import { hasHostedTools, hasDroppedHostedTool } from '../request/hosted-tools.ts';
import { readOpening } from '../request/opening.ts';
import { RequestContent } from '../request/request-content.ts';
import { readSession } from '../request/session.ts';
import { createThreadNotFoundError } from '../request/thread.ts';
import { selectUpstreamFormat } from '../request/upstream-format.ts';
import { hasForeignThread } from '../state/threads.ts';
import { EmbeddingCall, isEmbeddingCall } from './embeddings/embedding-call.ts';
import { isPassedThrough } from './pass-through/adapt-request.ts';
import { PassThrough } from './pass-through/pass-through.ts';
import { type PreparedCall, PreparedCalls } from './translation/prepared-call.ts';
import { isResumable, createResumption } from './translation/resumption.ts';
import { CallTranslator } from './translation/translator.ts';

const omissionNote = 'approximated images in tool results as text';

/** Drops images in tool results if no route could otherwise serve the request. */
export function openCall(exchange: Exchange, model: Model, request: ClientRequest): ModelCall {
  return retryWithoutImages(exchange, model, request, new ModelCall(exchange, model, request));
}

/** Does the same as `openCall` for a long request, whose steps take separate turns of the event loop. */
export async function openLongCall(exchange: Exchange, model: Model, request: ClientRequest): Promise<ModelCall> {
  await nextTurn();
  const call = new ModelCall(exchange, model, request);
  call.decode();
  await nextTurn();
  return retryWithoutImages(exchange, model, request, call);
}

function retryWithoutImages(exchange: Exchange, model: Model, request: ClientRequest, call: ModelCall): ModelCall {
  if (call.refusal === undefined) return call;
  const requestWithoutImages = omitResultImages(request);
  if (requestWithoutImages === undefined) return call;
  const callWithoutImages = new ModelCall(exchange, model, requestWithoutImages, [omissionNote]);
  return callWithoutImages.refusal === undefined ? callWithoutImages : call;
}

/**
 * Adapts a model call to its routes. For a route of the client's format, bytes pass through; for other routes, the request is translated.
 * Most requests are prepared for one route only.
 */
export class ModelCall implements Adapter {
  readonly model: Model;
  readonly modelName: string;
  readonly isStream: boolean;
  readonly session: string | undefined;
  readonly #exchange: Exchange;
  readonly #request: ClientRequest;
  readonly #translator: CallTranslator;
  readonly #prepared = new PreparedCalls((route) => this.#prepare(route));
  readonly #readers: ReplyReader[] = [];
  readonly #isResumable: boolean;
  readonly #hasHostedTools: boolean;
  readonly #notes: readonly string[];
  #opening: string | undefined;

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
    const { outline, bodyOutline } = this.#request.content;
    return (this.#opening ??= readOpening(outline, bodyOutline));
  }

  /** True if only the vendor account that began the thread can continue it. */
  get isBound(): boolean {
    return this.#request.thread !== undefined;
  }

  get isConversation(): boolean {
    const { format, purpose } = this.#request;
    return purpose === 'answer' && isClientTextFormat(format);
  }

  /** Returns true for a route that runs the vendor's own tools, to prefer it over one that drops them. */
  prefers(route: Route): boolean {
    if (!this.#hasHostedTools) return true;
    const call = this.#prepared.find(route);
    return !(call instanceof GatewayError) && !hasDroppedHostedTool(call.request.notes);
  }

  canServe(route: Route): boolean {
    return !(this.#prepared.find(route) instanceof GatewayError);
  }

  /** The notes that the client gets if the first route that can serve the request does so. */
  get expectedNotes(): readonly string[] {
    const route = this.model.routes.find((candidate) => this.canServe(candidate));
    return route === undefined ? [] : (this.encode(route).notes ?? []);
  }

  /** The first route's error, if no route can serve the request. */
  get refusal(): GatewayError | undefined {
    let firstError: GatewayError | undefined;
    for (const route of this.model.routes) {
      const call = this.#prepared.find(route);
      if (!(call instanceof GatewayError)) return undefined;
      firstError ??= call;
    }
    return firstError;
  }

  /** Decodes the request if the first route needs a translation. This is a separate step before encoding. */
  decode(): void {
    const [route] = this.model.routes;
    if (route === undefined || selectUpstreamFormat(route, this.#request) === this.#request.format) return;
    try {
      this.#translator.decode();
    } catch {
      // The error is thrown again, and reported, once the call is prepared for the route.
    }
  }

  encode(route: Route): UpstreamRequest {
    const { request } = this.#prepared.get(route);
    return this.#notes.length === 0 ? request : { ...request, notes: [...(request.notes ?? []), ...this.#notes] };
  }

  read(route: Route): ReplyReader {
    const reader = this.#prepared.get(route).createReader();
    this.#readers.push(reader);
    return reader;
  }

  /** See `ReplyReader.finished`. At most one reader finishes. */
  finished(): JsonObject | undefined {
    for (const reader of this.#readers) {
      const answer = reader.finished?.();
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  resume(broken: ReplyReader): RouteCalls | undefined {
    return this.#isResumable ? createResumption(broken, this.#request, this.#translator) : undefined;
  }

  #prepare(route: Route): PreparedCall {
    const format = selectUpstreamFormat(route, this.#request);
    if (isEmbeddingCall(this.#request, format)) {
      return new EmbeddingCall(this.#exchange.id, this.#request, route, format);
    }
    if (hasForeignThread(this.#request, route)) throw createThreadNotFoundError();
    if (format === this.#request.format && !needsTranslation(route, this.#request)) {
      return new PassThrough(this.#exchange, this.#request, route, this.#isResumable);
    }
    return this.#translator.translate(route, format);
  }
}

/** Returns true if every route gets the client's bytes, so the texts of a long request need not be read. */
export function isPassedToAllRoutes({ routes, resume }: Model, request: ClientRequest): boolean {
  return resume !== true && request.purpose === 'answer' && routes.every((route) => isPassedToRoute(route, request));
}

function isPassedToRoute(route: Route, request: ClientRequest): boolean {
  try {
    const format = selectUpstreamFormat(route, request);
    return (
      format === request.format &&
      !isEmbeddingCall(request, format) &&
      !needsTranslation(route, request) &&
      isPassedThrough(request, route)
    );
  } catch {
    // The error is thrown again, and reported, once the call is prepared for the route.
    return false;
  }
}

/**
 * Returns true if only a translation can adapt the request: freeform tools become functions and their calls freeform again, images in tool
 * results become a user message, and the calls and results of a broken history are paired.
 */
function needsTranslation({ profile }: Route, { format, purpose, outline }: ClientRequest): boolean {
  const { text } = format.client;
  if (purpose !== 'answer' || text === undefined) return false;
  const { freeform_tools, tool_result_images, strict_calls } = profileIn(format.name, profile).quirks;
  if (!freeform_tools && text.hasFreeformTools?.(outline) === true) return true;
  if (strict_calls && text.isSingleChoice(outline) && text.hasBrokenCalls?.(outline) === true) return true;
  return !tool_result_images && text.omitResultImages(outline) !== outline;
}

/**
 * Drops the images in tool results; undefined if there are none. If they stayed, every later request of a conversation in which a tool once
 * returned an image would be refused, and the user could not remove the image. Images that the user sends stay, because the user can send
 * something else.
 */
function omitResultImages(request: ClientRequest): ClientRequest | undefined {
  const { format, outline, content } = request;
  if (!isClientTextFormat(format)) return undefined;
  const omit = (body: JsonObject): JsonObject => format.client.text.omitResultImages(body);
  if (omit(outline) === outline) return undefined;
  return request.with({}, RequestContent.fromText(JSON.stringify(omit(content.exactBody)), omit(content.body)));
}
