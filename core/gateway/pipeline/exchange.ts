import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect } from '#core/platform/errors/dialects.ts';
import { ClientGone, type GatewayError } from '#core/platform/errors/table.ts';
import { type MemoryShare, unlimitedMemory } from '#core/platform/memory/budget.ts';
import type { WireFormat } from '#core/config/catalog/formats.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { EndpointDocumentation } from '../host/api-documentation.ts';
import { BodyLayers } from './body-layers.ts';
import type { AnyFact, Fact } from './fact.ts';
import type { Reply } from './reply.ts';

/**
 * A path served by the pipeline.
 *
 * A model call is answered by a stage (`upstream`, or `cache` before it). An endpoint with its own `answer` is answered by that, after
 * every stage has entered and its facts are known.
 */
export interface Endpoint {
  /** Snake_case; identifies the kind of request to stages and records: `chat`, `count_tokens`, `list_models`. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Starts with `/v1/` or `/v1beta/`; `{name}` is one segment, `{name*}` the remaining path. */
  readonly path: string;
  /** Wire format of the body; undefined if no model is called. */
  readonly format?: WireFormat | undefined;
  /** Error format of its clients; omitted if the request's headers decide. */
  readonly dialect?: Dialect | undefined;
  /**
   * True for a model call: it counts against the rate limits of model calls, and its reply may be cached. Like every POST in a format,
   * metered or not, it requires an active period. Other requests have a separate rate limit.
   */
  readonly isMetered: boolean;
  /** True if no key is needed: `auth` skips it, and stages find no principal. */
  readonly isPublic?: boolean;
  /** True if it is also served without the `/v1` prefix, which misconfigured tools omit. */
  readonly isAliased?: boolean;
  readonly answer?: ((exchange: Exchange) => Reply | Promise<Reply>) | undefined;
  /** Lists the endpoint in the API documentation. */
  readonly documentation?: EndpointDocumentation;
}

/** A body without the middle of its long strings, see core/platform/json-outline. */
export interface BodyOutline {
  readonly body: JsonObject;
  /** JSON text of the outline. */
  readonly text: string;
  /** Bytes of the whole body, valid until the exchange ends. */
  readonly pieces: readonly Buffer[];
  /** Number of bytes at the end of the JSON that equal the end of the body. */
  readonly uncut: number;
}

/** Source of the request body: the socket, or a stub in tests. */
export interface BodySource {
  /** @throws GatewayError `request_too_large`, `request_timeout` */
  bytes(): Promise<Buffer>;
  text(): Promise<string>;
  /** Returns the bytes without decoding them to text, which takes less memory. */
  form?(): Promise<Buffer>;
  /** @throws GatewayError also `invalid_request`, `unsupported_media_type` */
  json(): Promise<JsonObject>;
  /**
   * Structure of a long body without its long strings, at a fraction of the cost of parsing it. Undefined for a short body, or if the whole
   * body must be read.
   *
   * @throws GatewayError see `bytes`, and `unsupported_media_type`
   */
  outline?(): Promise<BodyOutline | undefined> | undefined;
  /** The complete body, once a stage read it. */
  readonly received?: Buffer | undefined;
  /** Call when the exchange ends. */
  release?(): void;
  /** True while the body is being read. */
  readonly isReading?: boolean;
  /** Ms spent waiting for the body; set once it is read. */
  readonly waited?: number;
}

export interface ExchangeInit {
  readonly id: string;
  readonly endpoint: Endpoint;
  /** Decoded values of the `{names}` in the endpoint's path. */
  readonly params: Readonly<Record<string, string>>;
  readonly dialect: Dialect;
  readonly method: string;
  /** Path as received, without the query string. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string | undefined;
  readonly receivedAt: number; // epoch ms
  readonly body: BodySource;
  /** Memory budget for the exchange's buffers. Default: no limit. */
  readonly memory?: MemoryShare;
}

type AbortListener = (reason: ClientGone | GatewayError) => void;

export interface ReplySender {
  /** Sends a reply before the pipeline has one, on behalf of an exchange that continues without its client. */
  send(early: Reply): Promise<void>;
}

/** Takes the reply of an exchange that continues without its client. Must read or discard the body. */
type ReplyTaker = (reply: Reply) => Promise<void>;

/** Request and reply together, as they pass through the pipeline. */
export class Exchange {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>;
  readonly format: WireFormat | undefined;
  readonly dialect: Dialect;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string | undefined;
  readonly receivedAt: number;
  /** Number of the serving variant; undefined for the main configuration. */
  variant: number | undefined = undefined;
  /** Reads the request body, once. Nothing is read before a stage asks. */
  readonly body: BodySource;
  /** Memory reserved for the exchange's buffers. */
  readonly memory: MemoryShare;
  /** Owners of the layers of a streamed reply. */
  readonly bodyLayers = new BodyLayers();
  /**
   * True while a stage keeps it in a queue with a deadline: that time is not counted as the stage's. Reset when the stage's moment ends.
   */
  isQueued = false;
  readonly #began = performance.now();
  readonly #facts = new Map<AnyFact, unknown>();
  #controller: AbortController | undefined;
  #abortReason: ClientGone | GatewayError | undefined;
  #abortListeners: AbortListener[] | undefined;
  #failure: GatewayError | undefined;
  #taker: ReplyTaker | undefined;
  /** Sends the client its answer when the exchange is detached; set by the host. */
  sender: ReplySender | undefined;

  constructor(init: ExchangeInit) {
    this.id = init.id;
    this.endpoint = init.endpoint;
    this.params = init.params;
    this.format = init.endpoint.format;
    this.dialect = init.dialect;
    this.method = init.method;
    this.path = init.path;
    this.query = init.query;
    this.headers = init.headers;
    this.remoteAddress = init.remoteAddress;
    this.receivedAt = init.receivedAt;
    this.body = init.body;
    this.memory = init.memory ?? unlimitedMemory.share('');
  }

  /** Value of a fact that the stage declared to read. */
  get<T>(fact: Fact<T>): T {
    if (!this.#facts.has(fact)) throw new Error(`fact ${fact.name} is read before any stage has written it`);
    return this.#facts.get(fact) as T;
  }

  /** Value of a fact that may be missing, because its stage is not listed or was not reached. */
  find<T>(fact: Fact<T>): T | undefined {
    return this.#facts.get(fact) as T | undefined;
  }

  set<T>(fact: Fact<T>, value: T): void {
    this.#facts.set(fact, value);
  }

  /** Ms since the request arrived. */
  get elapsed(): number {
    return performance.now() - this.#began;
  }

  /**
   * Aborted if the client disconnected (the reason is a ClientGone) or the gateway ends the exchange (the reason is the GatewayError sent
   * to the client). Created on first use, because most exchanges need only `isAborted`.
   */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#abortReason !== undefined;
  }

  /** Reason of the abort; undefined until then. */
  get abortReason(): ClientGone | GatewayError | undefined {
    return this.#abortReason;
  }

  /** Calls a listener, which must not throw, when the exchange is aborted. Cheaper than the signal. */
  onAbort(listener: AbortListener): void {
    this.#abortListeners ??= [];
    this.#abortListeners.push(listener);
  }

  /** Aborts the exchange. Only the first reason is kept. */
  abort(reason: ClientGone | GatewayError): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    for (const listener of this.#abortListeners ?? []) listener(reason);
    this.#controller?.abort(reason);
  }

  /**
   * Answers the client now, and lets the exchange continue without it, with its limits and its record: the pipeline's reply goes to
   * `taker`, and a client disconnect no longer ends the exchange.
   */
  async detach(early: Reply, taker: ReplyTaker): Promise<void> {
    this.#taker = taker;
    await this.sender?.send(early);
  }

  /** Undefined while the client waits for the reply. */
  get taker(): ReplyTaker | undefined {
    return this.#taker;
  }

  get isClientGone(): boolean {
    return this.#abortReason instanceof ClientGone;
  }

  /** Error of a failed exchange. */
  get failure(): GatewayError | undefined {
    return this.#failure;
  }

  /** Records a failure. Only the first one is kept. */
  fail(error: GatewayError): void {
    this.#failure ??= error;
  }
}
