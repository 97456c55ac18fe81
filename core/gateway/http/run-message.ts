import type { IncomingHttpHeaders } from 'node:http';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import { type GatewayError } from '#core/platform/errors/table.ts';
import type { OutlinedItems } from '#core/platform/json-outline/outline.ts';
import { Exchange, type ExchangeInit } from '../pipeline/exchange.ts';
import type { Reply } from '../pipeline/reply.ts';
import { detectDialect } from './dialect.ts';
import { refusingEndpoint, type Serving } from './open-exchange.ts';
import { RequestBody } from './request-body.ts';
import type { SendProgress } from './send.ts';

/** A request received as a message, on a connection that is not HTTP/1.1. */
export interface InboundMessage extends Pick<
  ExchangeInit,
  'endpoint' | 'path' | 'query' | 'headers' | 'remoteAddress'
> {
  readonly body: readonly Buffer[];
  /** Called when a stage reads the body. Until then, the caller keeps memory for the body reserved. */
  readonly onRead?: () => void;
  readonly outlines?: ReadonlyMap<Buffer, OutlinedItems>; // by part of `body`
}

export interface MessageDelivery extends SendProgress {
  /** Undefined if the client disconnected before it received a status. */
  readonly status: number | undefined;
}

export interface MessageClient {
  /** Called when the message's exchange starts. The client aborts the exchange with ClientGone when it disconnects. */
  onStart(exchange: Exchange): void;
  /**
   * Delivers the reply. Must read or discard the body, and must not reject.
   *
   * @param onStalled returns the error that ends a body that has been stalled for the given seconds
   */
  deliver(exchange: Exchange, reply: Reply, onStalled: (seconds: number) => GatewayError): Promise<MessageDelivery>;
}

export interface MessageRunner {
  readonly serving: Serving;
  /** Runs the exchange of a message to its end. Never rejects. */
  runMessage(message: InboundMessage, client: MessageClient): Promise<void>;
  /**
   * Finds the account that the message's headers authenticate; undefined if there is none.
   *
   * @throws Error if the account cannot be determined now
   */
  accountOf(message: Omit<InboundMessage, 'body'>): Promise<string | undefined> | string | undefined;
  /** Returns the address of the client in front of all trusted proxies. */
  addressOf(peer: string | undefined, headers: IncomingHttpHeaders): string | undefined;
}

/** @param refusal see `openExchange` */
export function openMessageExchange(
  message: InboundMessage,
  { host, bodyLimits }: Serving,
  refusal?: GatewayError,
): Exchange {
  const { path, query, headers, remoteAddress, body, onRead, outlines } = message;
  const dialect = detectDialect(message.endpoint, headers, path);
  const receivedAt = host.now();
  const memory = host.memory.createShare(remoteAddress ?? '');
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
