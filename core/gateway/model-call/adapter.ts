import type { JsonObject } from '#core/platform/json.ts';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';

/**
 * The bridge between a client's request and the routes that may serve it. `format` writes one for each model call;
 * `upstream` gets the request for a route from it, and passes it the response. This decouples the two stages.
 */
export interface Adapter extends RouteCalls {
  readonly model: Model;
  /** The model's name in answers and records: the public one, or the alias that the client used. */
  readonly modelName: string;
  /** True if the client requested server-sent events. */
  readonly isStream: boolean;
  /** The client's name for a conversation, whose requests go to the same route and key. */
  readonly session?: string | undefined;
  /** The first message of the user, cut at some length: the same text for each turn of a conversation. */
  readonly opening: string;
  /** True where later requests may repeat this one as their beginning, so that its route and key should be theirs. */
  readonly isConversation?: boolean;
  /** True where only the route and the key of its session can serve it. */
  readonly isBound?: boolean;
  /**
   * How to ask another route to continue an answer that broke off after its first content. Undefined when that is not
   * wanted, or not possible at this point. Missing where it never is.
   */
  resume?(broken: ReplyReader): RouteCalls | undefined;
}

/** The requests to routes, and readers for their replies. */
export interface RouteCalls {
  /** False when the request cannot be expressed in any format of the route. */
  canServe(route: Route): boolean;
  /** False for a route that can serve less of the request than others; missing where all serve the same. */
  prefers?(route: Route): boolean;
  /** Writes the request to send. Every call starts from the client's untouched request. */
  encode(route: Route): UpstreamRequest;
  /** Reads the reply of one attempt. */
  read(route: Route): ReplyReader;
}

/** The request of an attempt. */
export interface UpstreamRequest {
  /** Name of the body's wire format, which the route speaks. */
  readonly format: string;
  /** Appended to the upstream's base URL; begins with a slash. */
  readonly path: string;
  /** Lower case; authentication is the upstream's business and not in here. */
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces are sent one after the other. */
  readonly body: Buffer | string | readonly Buffer[];
  /** Features of the client's request that were omitted or approximated; reported to the client and in the record. */
  readonly notes?: readonly string[] | undefined;
}

/** Reads one reply. Create one an attempt. */
export interface ReplyReader {
  /**
   * Turns a whole 2xx body into the client's.
   *
   * @throws GatewayError `upstream_failed` when it is an error or no answer at all in spite of the status
   */
  whole(body: Buffer, contentType: string): WholeReply;
  /**
   * Turns a body into the kind that the client requested: a whole reply into events, a stream of events into a
   * whole reply. Missing where that is not possible.
   *
   * @throws GatewayError as `whole` does
   */
  convert?(body: Buffer, isEventStream: boolean): WholeReply;
  /**
   * The same as `whole` or `convert`, in steps: between them others get their turn, where a body is so long that all of
   * it would keep them waiting.
   *
   * @param kind of the body and of the request, which differ if it must be converted
   * @throws GatewayError as `whole` does
   */
  steps?(body: Buffer, contentType: string, kind: AnswerKind): Generator<undefined, WholeReply>;
  /**
   * True for an answer of this content type that passes as bytes, such as audio: `push` takes its chunks, and it is complete
   * when the upstream closes it. Missing where every answer is JSON or events.
   */
  isBytes?(contentType: string): boolean;
  /** Takes the next bytes of an event stream and returns the whole events that the client gets for them. */
  push(chunk: Buffer): Buffer;
  /**
   * The upstream has closed the stream.
   *
   * @returns the rest for the client
   */
  end(): Buffer;
  /** True once something of the answer itself has passed: from then on no other route can take over. */
  readonly hasContent: boolean;
  /** Grows with every event that carries something: pings and comments do not, nor does a part of an event. */
  readonly progress: number;
  /** Characters that the reader keeps of the answer until its end; left out where it keeps none. */
  readonly held?: number;
  /** True once all of the answer has passed. A stream that ends before that was cut. */
  readonly isComplete: boolean;
  /**
   * True when only usage and an end marker can follow, for which the upstream gets a short timeout. False again if more of the
   * response follows nevertheless: the usual timeouts then apply again.
   */
  readonly isFinished: boolean;
  /** The error that the upstream reported inside the stream. */
  readonly failure: GatewayError | undefined;
  readonly usage: Usage | undefined;
  /** True when the vendor has withheld or cut the answer because of its policy. */
  readonly isPolicyRefusal?: boolean;
  /** Digests of the content, undefined in formats without conversations. Computed on each call. */
  readonly digests?: AnswerDigests | undefined;
  /** The model that the upstream has named in its answer. */
  readonly answeredModel?: string | undefined;
  /** Features of the answer that could not be passed on; in the record, and reported to the client if the headers are not sent yet. */
  readonly notes?: readonly string[] | undefined;
  /**
   * The answer as one object of the client's format, exactly as the client gets it. Undefined until it is complete, and
   * in formats whose answers are not stored.
   */
  finished?(): JsonObject | undefined;
  /** Writes the error that ends the client's stream at this point. */
  renderFailure(error: GatewayError): string;
}

/** SHA-256 over the content of an answer in hexadecimal digits, undefined where it has none; docs/honesty.md. */
export interface AnswerDigests {
  readonly received: string | undefined; // of what the upstream has sent
  readonly sent: string | undefined; // of what the client gets
  /** Why they differ, if they do: names of changes. */
  readonly changes?: readonly string[];
}

/** Received and requested kind of answer. */
export interface AnswerKind {
  readonly isEventStream: boolean;
  readonly isStreamRequested: boolean;
}

/** An answer in the client's format, all of it. */
export interface WholeReply {
  readonly contentType: string;
  readonly body: Buffer;
  readonly usage: Usage | undefined;
}

/** Tokens, as the upstream counted them as a rule; undefined where it did not say. */
export interface Usage {
  readonly input?: number | undefined; // all prompt tokens, cached ones included
  readonly output?: number | undefined; // reasoning included
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly reasoning?: number | undefined;
  /** Images that the Images API made. */
  readonly images?: number | undefined;
  /** True when the upstream did not count, and the gateway has guessed. */
  readonly isEstimated?: boolean | undefined;
}
