import type { JsonObject } from '#core/platform/json.ts';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';

/**
 * Bridge between a client's request and the routes that may serve it. `format` creates one for each model call; `upstream` gets the request
 * for a route from it, and passes it the response. This decouples the two stages.
 */
export interface Adapter extends RouteCalls {
  readonly model: Model;
  /** Name of the model in answers and records: the public one, or the alias used by the client. */
  readonly modelName: string;
  /** True if the client requested server-sent events. */
  readonly isStream: boolean;
  /** The client's name for the conversation, whose requests go to the same route and key. */
  readonly session?: string | undefined;
  /** First message of the user, truncated; the same in each turn of a conversation. */
  readonly opening: string;
  /** True if later requests may start with this one, so that they should use its route and key. */
  readonly isConversation?: boolean;
  /** True if only the route and key of its session can serve it. */
  readonly isBound?: boolean;
  /**
   * Calls that ask another route to continue an answer truncated after its first content. Undefined if that is not wanted, or not possible
   * at this point. Missing if it never is.
   */
  resume?(broken: ReplyReader): RouteCalls | undefined;
}

/** Requests to routes, and readers for their replies. */
export interface RouteCalls {
  /** False if the request cannot be expressed in any format of the route. */
  canServe(route: Route): boolean;
  /** False for a route that supports less of the request than others; missing if all are equal. */
  prefers?(route: Route): boolean;
  /** Encodes the request to send. Each call starts from the client's unmodified request. */
  encode(route: Route): UpstreamRequest;
  /** Creates a reader for the reply of one attempt. */
  read(route: Route): ReplyReader;
}

/** Request of an attempt. */
export interface UpstreamRequest {
  /** Name of the body's wire format, one of the route's. */
  readonly format: string;
  /** Appended to the upstream's base URL; starts with a slash. */
  readonly path: string;
  /** Lower-case names; without authentication, which the `upstream` stage adds. */
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces are sent in order. */
  readonly body: Buffer | string | readonly Buffer[];
  /** Features of the client's request that were omitted or approximated; reported to the client and recorded. */
  readonly notes?: readonly string[] | undefined;
}

/** Reads one reply. Each attempt needs its own. */
export interface ReplyReader {
  /**
   * Converts a whole 2xx body to the client's format.
   *
   * @throws GatewayError `upstream_failed` if it contains an error or no answer despite its status
   */
  whole(body: Buffer, contentType: string): WholeReply;
  /**
   * Converts a body to the kind requested by the client: a whole reply to events, or a stream of events to a whole reply. Missing if that
   * is not possible.
   *
   * @throws GatewayError see `whole`
   */
  convert?(body: Buffer, isEventStream: boolean): WholeReply;
  /**
   * Like `whole` or `convert`, in steps between which others get their turn, for bodies so long that processing them would block others.
   *
   * @param kind of the body and of the request, which differ if it must be converted
   * @throws GatewayError see `whole`
   */
  steps?(body: Buffer, contentType: string, kind: AnswerKind): Generator<undefined, WholeReply>;
  /**
   * True for content types that are passed through as bytes, such as audio: `push` receives the chunks, and the answer is complete when the
   * upstream closes it. Missing if every answer is JSON or events.
   */
  isBytes?(contentType: string): boolean;
  /** Reads the next bytes of an event stream, and returns the complete events for the client. */
  push(chunk: Buffer): Buffer;
  /**
   * The upstream closed the stream.
   *
   * @returns the remaining events for the client
   */
  end(): Buffer;
  /** True once content of the answer was passed on: then no other route can take over. */
  readonly hasContent: boolean;
  /** Grows with every event that carries data, but not with pings, comments or partial events. */
  readonly progress: number;
  /** Characters of the answer that the reader holds until its end; missing if none. */
  readonly held?: number;
  /** True once the answer is complete. A stream that ends before was truncated. */
  readonly isComplete: boolean;
  /**
   * True if only usage and an end marker can follow, for which the upstream gets a short timeout. Becomes false if more of the response
   * follows nevertheless; the usual timeouts then apply again.
   */
  readonly isFinished: boolean;
  /** Error reported by the upstream inside the stream. */
  readonly failure: GatewayError | undefined;
  readonly usage: Usage | undefined;
  /** True if the vendor withheld or truncated the answer under its policy. */
  readonly isPolicyRefusal?: boolean;
  /** Digests of the content, undefined in formats without conversations. Computed on each call. */
  readonly digests?: AnswerDigests | undefined;
  /** Model named in the upstream's answer. */
  readonly answeredModel?: string | undefined;
  /** Features of the answer that could not be passed on; recorded, and reported to the client if the headers were not sent yet. */
  readonly notes?: readonly string[] | undefined;
  /**
   * The answer as one object in the client's format, exactly as the client receives it. Undefined until it is complete, and in formats
   * whose answers are not stored.
   */
  finished?(): JsonObject | undefined;
  /** Renders the error that ends the client's stream at this point. */
  renderFailure(error: GatewayError): string;
}

/** SHA-256 of an answer's content in hexadecimal, undefined without content; see docs/honesty.md. */
export interface AnswerDigests {
  readonly received: string | undefined; // of the content sent by the upstream
  readonly sent: string | undefined; // of the content sent to the client
  /** Names of changes, if the two differ. */
  readonly changes?: readonly string[];
}

/** Received and requested kind of answer. */
export interface AnswerKind {
  readonly isEventStream: boolean;
  readonly isStreamRequested: boolean;
}

/** A complete answer in the client's format. */
export interface WholeReply {
  readonly contentType: string;
  readonly body: Buffer;
  readonly usage: Usage | undefined;
}

/** Tokens, normally as counted by the upstream; undefined if not reported. */
export interface Usage {
  readonly input?: number | undefined; // all prompt tokens, including cached ones
  readonly output?: number | undefined; // includes reasoning
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly reasoning?: number | undefined;
  /** Images generated by the Images API. */
  readonly images?: number | undefined;
  /** True if the upstream did not count, and the gateway estimated. */
  readonly isEstimated?: boolean | undefined;
}
