import type { IncomingHttpHeaders } from 'node:http';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import type { OutlinedItems } from '#core/platform/json-outline/outline.ts';
import { type GatewayError } from '#core/platform/errors/table.ts';
import { type Endpoint, Exchange } from '../pipeline/exchange.ts';
import type { Reply } from '../pipeline/reply.ts';
import { refusingEndpoint, type Serving } from './open-exchange.ts';
import { callerDialect } from './dialect.ts';
import { RequestBody } from './request-body.ts';
import type { SendProgress } from './send.ts';

/** A request received as a message, on a connection other than HTTP/1.1. */
export interface InboundMessage {
  readonly endpoint: Endpoint;
  readonly path: string; // without the query string
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string | undefined;
  /** Bytes of the body. */
  readonly body: readonly Buffer[];
  /** Called when a stage reads the body. Until then, the sender of the message keeps the memory of its bytes reserved. */
  readonly onRead?: () => void;
  /** Pieces of the body that already have an outline. */
  readonly outlines?: ReadonlyMap<Buffer, OutlinedItems>;
}

/** The part of a response that the client received. */
export interface Delivered extends SendProgress {
  /** Status received by the client; undefined if it disconnected before. */
  readonly status: number | undefined;
}

/** The client of a message. */
export interface Correspondent {
  /** The exchange of the message started. Abort it with ClientGone if the client disconnects. */
  began(exchange: Exchange): void;
  /**
   * Delivers the reply, and resolves when done. Must read or discard the body, and must not reject.
   *
   * @param onStalled returns the error that ends a body stalled for so many seconds
   */
  deliver(exchange: Exchange, reply: Reply, onStalled: (seconds: number) => GatewayError): Promise<Delivered>;
}

/** Runs messages as exchanges. */
export interface Conversations {
  readonly serving: Serving;
  /** Runs the exchange of a message to its end. Never rejects. */
  converse(message: InboundMessage, client: Correspondent): Promise<void>;
  /**
   * Account authenticated by these headers; undefined if none.
   *
   * @throws if that cannot be determined now
   */
  accountOf(message: Omit<InboundMessage, 'body'>): Promise<string | undefined> | string | undefined;
  /** Address of the client, in front of all trusted proxies. */
  addressOf(peer: string | undefined, headers: IncomingHttpHeaders): string | undefined;
}

/**
 * Creates the exchange of a message.
 *
 * @param refusal see `openExchange`
 */
export function openMessage(message: InboundMessage, { host, bodyLimits }: Serving, refusal?: GatewayError): Exchange {
  const { path, query, headers, remoteAddress, body, onRead, outlines } = message;
  const dialect = callerDialect(message.endpoint, headers, path);
  const receivedAt = host.now();
  const memory = host.memory.share(remoteAddress ?? '');
  return new Exchange({
    id: createRequestId(receivedAt),
    endpoint: refusal === undefined ? message.endpoint : refusingEndpoint(refusal, dialect),
    params: {},
    dialect,
    method: message.endpoint.method,
    path,
    query,
    headers,
    remoteAddress,
    receivedAt,
    memory,
    body: new RequestBody({ headers, pieces: body, onRead, outlines }, bodyLimits, memory, () => undefined),
  });
}
