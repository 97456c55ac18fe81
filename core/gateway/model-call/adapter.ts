import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';

/**
 * Adapts a client's request to the routes that may serve it. The `format` stage creates an adapter for each model call. The `upstream`
 * stage gets the request for a route from it, and passes the response back to it, so neither stage depends on the other.
 */
export interface Adapter extends RouteCalls {
  readonly model: Model;
  /** Name of the model in replies and records: its public name, or the alias that the client used. */
  readonly modelName: string;
  /** True if the client requested server-sent events. */
  readonly isStream: boolean;
  /** The client's id for the conversation. Requests of a conversation go to the same route and key. */
  readonly session?: string | undefined;
  /** First message of the user, truncated. It is the same in each turn of a conversation. */
  readonly opening: string;
  /** True if later requests may repeat this one as their start, so that they should use the same route and key. */
  readonly isConversation?: boolean;
  /** True if only the route and key of the session can serve the request. */
  readonly isBound?: boolean;
  /**
   * Creates the calls that let another route continue a reply that was truncated after its first content. Returns undefined if continuing
   * is not wanted, or not possible at this point. Missing if it is never possible.
   */
  resume?(broken: ReplyReader): RouteCalls | undefined;
}

/** Requests to routes, and readers for their replies. */
export interface RouteCalls {
  /** False if the request cannot be expressed in any format of the route. */
  canServe(route: Route): boolean;
  /** False for a route that supports less of the request than others do; missing if all routes are equal. */
  prefers?(route: Route): boolean;
  /** Encodes the request to send. Each call starts from the client's unmodified request. */
  encode(route: Route): UpstreamRequest;
  /** Creates a reader for the reply of one attempt. */
  read(route: Route): ReplyReader;
}

/** Request of an attempt. */
export interface UpstreamRequest {
  /** Wire format of the body, one of the route's formats. */
  readonly format: string;
  /** Appended to the upstream's base URL; starts with a slash. */
  readonly path: string;
  /** Headers with lower-case names. The stage `upstream` adds authentication. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, or its pieces in order. */
  readonly body: Buffer | string | readonly Buffer[];
  /** Features of the client's request that were omitted or approximated; reported to the client and recorded. */
  readonly notes?: readonly string[] | undefined;
}

/** Reads one reply. Each attempt needs its own. */
export interface ReplyReader {
  /**
   * Converts a non-streaming 2xx body to the client's format.
   *
   * @throws GatewayError `upstream_failed` if the body contains an error or no content despite its status
   */
  whole(body: Buffer, contentType: string): WholeReply;
  /**
   * Converts a body to the kind that the client requested: a non-streaming body to events, or events to a non-streaming reply. Missing if
   * that is not possible.
   *
   * @throws GatewayError see `whole`
   */
  convert?(body: Buffer, isEventStream: boolean): WholeReply;
  /**
   * Runs `whole` or `convert` in steps, so that a long body does not block other requests.
   *
   * @param kind kinds of the body and of the request; the body is converted if they differ
   * @throws GatewayError see `whole`
   */
  steps?(body: Buffer, contentType: string, kind: AnswerKind): Generator<undefined, WholeReply>;
  /**
   * True for content types that are passed through as bytes, such as audio. `push` receives the chunks, and the reply is complete when the
   * upstream closes it. Missing if every reply is JSON or events.
   */
  isBytes?(contentType: string): boolean;
  /** Reads the next bytes of an event stream, and returns the complete events for the client. */
  push(chunk: Buffer): Buffer;
  /** Ends the stream when the upstream has closed it, and returns the remaining events for the client. */
  end(): Buffer;
  /** True after content has been passed on to the client, so that no other route can take over. */
  readonly hasContent: boolean;
  /** Grows with every event that carries data, but not with pings, comments or partial events. */
  readonly progress: number;
  /** Number of characters that the reader buffers until the reply ends; missing if it buffers none. */
  readonly held?: number;
  /** True if the reply is complete. A stream that ends earlier was truncated. */
  readonly isComplete: boolean;
  /**
   * True if only usage and an end marker can follow, for which the upstream gets a short timeout. If more content follows after all, it
   * becomes false and the usual timeouts apply again.
   */
  readonly isFinished: boolean;
  /** Error reported by the upstream inside the stream. */
  readonly failure: GatewayError | undefined;
  readonly usage: Usage | undefined;
  /** True if the vendor withheld or truncated the reply under its policy. */
  readonly isPolicyRefusal?: boolean;
  /** Digests of the content; undefined in formats without conversations. Computed on each access. */
  readonly digests?: AnswerDigests | undefined;
  /** Model named in the upstream's reply. */
  readonly answeredModel?: string | undefined;
  /** Features of the reply that could not be passed on. Recorded, and reported to the client if the headers have not been sent yet. */
  readonly notes?: readonly string[] | undefined;
  /**
   * Returns the reply as one object in the client's format, exactly as the client receives it. Returns undefined until the reply is complete,
   * and in formats whose replies are not stored.
   */
  finished?(): JsonObject | undefined;
  /** Renders the error that ends the client's stream at this point. */
  renderFailure(error: GatewayError): string;
}

/** SHA-256 digests of a reply's content in hexadecimal; undefined if it has no content. See docs/honesty.md. */
export interface AnswerDigests {
  readonly received: string | undefined; // of the content sent by the upstream
  readonly sent: string | undefined; // of the content sent to the client
  /** Names of changes, if the two differ. */
  readonly changes?: readonly string[];
}

/** Received and requested kinds of a reply. */
export interface AnswerKind {
  readonly isEventStream: boolean;
  readonly isStreamRequested: boolean;
}

/** A complete reply in the client's format. */
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
  /** True if the gateway estimated the usage, because the upstream did not report it. */
  readonly isEstimated?: boolean | undefined;
}
