import type { IncomingHttpHeaders } from 'node:http';
import type { WireFormat } from '#core/config/catalog/formats.ts';
import type { Dialect } from '#core/platform/errors/dialects.ts';
import { ClientGone, type GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { type MemoryShare, unlimitedMemory } from '#core/platform/memory/budget.ts';
import type { EndpointDocumentation } from '../host/api-documentation.ts';
import { BodyLayers } from './body-layers.ts';
import type { AnyFact, Fact } from './fact.ts';
import type { Reply } from './reply.ts';

/**
 * A path served by the pipeline. A stage (`upstream`, or `cache` before it) replies to model calls. Other endpoints have their own
 * `answer`, which runs after all stages have entered and set their facts.
 */
export interface Endpoint {
  /** Kind of request for stages and records, in snake_case: `chat`, `count_tokens`, `list_models`. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Starts with `/v1/` or `/v1beta/`; `{name}` is one segment, `{name*}` the remaining path. */
  readonly path: string;
  /** Wire format of the body; undefined if no model is called. */
  readonly format?: WireFormat | undefined;
  /** Error format of the endpoint's clients; omitted if the request's headers decide. */
  readonly dialect?: Dialect | undefined;
  /**
   * True for a model call, which counts against the rate limits of model calls and whose reply may be cached. Other requests have a
   * separate rate limit. Every POST in a format requires an active period, metered or not.
   */
  readonly isMetered: boolean;
  /** True if no key is needed, so that `auth` skips the request and stages find no principal. */
  readonly isPublic?: boolean;
  /** True if the path is also served without the `/v1` prefix, which misconfigured tools omit. */
  readonly isAliased?: boolean;
  readonly answer?: ((exchange: Exchange) => Reply | Promise<Reply>) | undefined;
  /** Entry in the API documentation; the endpoint is not listed without it. */
  readonly documentation?: EndpointDocumentation;
}

/** A body without the middle parts of its long strings, see core/platform/json-outline. */
export interface BodyOutline {
  readonly body: JsonObject;
  /** JSON text of the outline. */
  readonly text: string;
  /** Bytes of the complete body, valid until the exchange ends. */
  readonly pieces: readonly Buffer[];
  /** Number of bytes at the end of `text` that are identical to the end of the body. */
  readonly uncutBytes: number;
}

/** Source of the request body: the socket, or a stub in tests. */
export interface BodySource {
  /** @throws GatewayError `request_too_large`, `request_timeout` */
  bytes(): Promise<Buffer>;
  text(): Promise<string>;
  /** Reads the bytes of a form. They are not decoded to text, which saves memory. */
  form?(): Promise<Buffer>;
  /** @throws GatewayError see `bytes`, and `invalid_request`, `unsupported_media_type` */
  json(): Promise<JsonObject>;
  /**
   * Outlines a long body at a fraction of the cost of parsing it. Returns undefined for a short body, or if the complete body must be
   * parsed.
   *
   * @throws GatewayError see `bytes`, and `unsupported_media_type`
   */
  outline?(): Promise<BodyOutline | undefined> | undefined;
  /** The complete body, after a stage has read it. */
  readonly received?: Buffer | undefined;
  /** Releases the body. Called when the exchange ends. */
  release?(): void;
  /** True while the body is being read. */
  readonly isReading?: boolean;
  /** Ms spent waiting for the body; set once it is read. */
  readonly waited?: number;
}

/** Properties of a new exchange. */
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

/** Sends replies of an exchange to its client. */
export interface ReplySender {
  /** Sends the client a reply before the pipeline has one. The exchange then continues without its client. */
  send(early: Reply): Promise<void>;
}

/** Must read or discard the body. */
type ReplyTaker = (reply: Reply) => Promise<void>;

/** A request and its reply, as they pass through the pipeline. */
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
  /** The request body. It is read once, when a stage first requests it. */
  readonly body: BodySource;
  /** Memory reserved for the exchange's buffers. */
  readonly memory: MemoryShare;
  /** Owners of the layers of a streamed reply. */
  readonly bodyLayers = new BodyLayers();
  /** True while a stage holds the exchange in a queue with its own deadline, which pauses the stage's timeout. Reset after each moment. */
  isQueued = false;
  readonly #startedAt = performance.now();
  readonly #facts = new Map<AnyFact, unknown>();
  #controller: AbortController | undefined;
  #abortReason: ClientGone | GatewayError | undefined;
  #abortListeners: AbortListener[] | undefined;
  #failure: GatewayError | undefined;
  #taker: ReplyTaker | undefined;
  /** Sends the early reply of a detached exchange; set by the host. */
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
    this.memory = init.memory ?? unlimitedMemory.createShare('');
  }

  /** Returns the value of a fact that the stage declares in `reads`. */
  get<T>(fact: Fact<T>): T {
    if (!this.#facts.has(fact)) throw new Error(`fact ${fact.name} is read before any stage has written it`);
    return this.#facts.get(fact) as T;
  }

  /** Returns the value of a fact; undefined if the stage that writes it is not listed or was not reached. */
  find<T>(fact: Fact<T>): T | undefined {
    return this.#facts.get(fact) as T | undefined;
  }

  set<T>(fact: Fact<T>, value: T): void {
    this.#facts.set(fact, value);
  }

  /** Ms since the request arrived. */
  get elapsed(): number {
    return performance.now() - this.#startedAt;
  }

  /**
   * Aborted when the client disconnects (the reason is a ClientGone) or the gateway ends the exchange (the reason is the GatewayError sent
   * to the client). Created on first use, because most exchanges only need `isAborted`.
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

  /** Why the exchange was aborted; undefined unless it was. */
  get abortReason(): ClientGone | GatewayError | undefined {
    return this.#abortReason;
  }

  /** Calls the listener, which must not throw, when the exchange is aborted. This is cheaper than using `signal`. */
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
   * Sends the client a reply now, and continues the exchange without the client. The exchange keeps its limits and its record, the
   * pipeline's reply goes to `taker`, and a disconnect no longer ends the exchange.
   */
  async detach(early: Reply, taker: ReplyTaker): Promise<void> {
    this.#taker = taker;
    await this.sender?.send(early);
  }

  /** Receiver of the reply; undefined unless the exchange is detached. */
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
