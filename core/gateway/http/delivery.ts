import type { IncomingMessage, ServerResponse } from 'node:http';
import { bounds } from '#core/platform/bounds.ts';
import { type GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { freeBytes } from '#core/platform/memory/freed-bytes.ts';
import { Exchange, type ReplySender } from '../pipeline/exchange.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { discard, type Reply } from '../pipeline/reply.ts';
import { StageFault } from '../pipeline/stage-fault.ts';
import type { Outcome } from '../pipeline/stage.ts';
import type { Serving } from './open-exchange.ts';
import { type SendProgress, sendReply } from './send.ts';

const discardTimeMs = 5_000;

export class ReplyDelivery implements ReplySender {
  /** Progress of sending; undefined if the client disconnected or nothing could be sent. */
  progress: SendProgress | undefined;
  readonly #exchange: Exchange;
  readonly #response: ServerResponse;
  readonly #serving: Serving;
  readonly #isLast: () => boolean;

  /** @param isLast called once per reply; returns true if the connection closes after it */
  constructor(exchange: Exchange, response: ServerResponse, serving: Serving, isLast: () => boolean) {
    this.#exchange = exchange;
    this.#response = response;
    this.#serving = serving;
    this.#isLast = isLast;
  }

  /** Sends an early reply. The exchange continues. */
  async send(early: Reply): Promise<void> {
    await this.#serving.pipeline.hold(this.#exchange, early);
    this.deliver(early, new Exchange(this.#exchange));
  }

  deliver(reply: Reply, exchange: Exchange = this.#exchange): void {
    const { pipeline, host, writeTimeout } = this.#serving;
    if (this.#response.destroyed) {
      discard(reply);
      return;
    }
    this.progress = sendReply(this.#response, exchange, reply, {
      headers: this.#isLast() ? closeHeaders : noHeaders,
      writeTimeout,
      log: host.log,
      onStalled: (seconds) => reportStall(exchange, seconds, pipeline),
    });
  }
}

const noHeaders = {};
const closeHeaders = { connection: 'close' };

/** Logs the stage whose body has stalled, and returns the error that ends the body. */
export function reportStall(exchange: Exchange, seconds: number, pipeline: Pipeline): GatewayError {
  const { stalledOwner: owner } = exchange.bodyLayers;
  const fault = new StageFault({ owner, moment: 'body' }, `has sent no chunk for ${seconds} s`);
  pipeline.reportFailure(exchange, owner, fault);
  return toGatewayError(fault);
}

export function statusOf(response: ServerResponse): number | undefined {
  return response.headersSent ? response.statusCode : undefined;
}

export function createOutcome(
  exchange: Exchange,
  status: number | undefined,
  progress: SendProgress | undefined,
  duration: number,
): Outcome {
  const error = exchange.failure;
  return {
    kind: outcomeKind(exchange, status),
    status,
    error,
    bytesSent: progress?.bytes ?? 0,
    duration,
    firstByteAfter: progress?.firstByteAfter,
  };
}

function outcomeKind(exchange: Exchange, status: number | undefined): Outcome['kind'] {
  if (exchange.isClientGone) return 'aborted';
  if (exchange.failure === undefined) return 'answered';
  return exchange.failure.isFailure(status) ? 'failed' : 'refused';
}

/**
 * Keeps reading for a while after a response was sent before the body was complete. Closing a connection with unread bytes would reset it,
 * and the reset could overtake the response.
 */
export function discardBody(request: IncomingMessage): void {
  let bytes = 0;
  const stop = () => request.socket.destroy();
  const timer = setTimeout(stop, discardTimeMs);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // A reader of the body may still use its chunks.
    if (request.listenerCount('data') === 1) freeBytes([chunk]);
    if (bytes > bounds.refusedBody) stop();
  });
  request.once('close', () => clearTimeout(timer));
  request.resume();
}
