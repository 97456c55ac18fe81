import { GatewayError } from '#core/platform/errors/table.ts';
import { wait } from '#core/platform/timing/wait.ts';
import type { ExchangeHandler } from './exchange-handler.ts';

const pollInterval = 20; // ms
/** For idle connections: a newly accepted one may have a request in flight. */
const minGraceSeconds = 5;

interface DrainTimes {
  /** Seconds during which new exchanges are served, because load balancers react late. */
  readonly notice: number;
  /** Seconds from the start for exchanges to finish; at least the notice period. */
  readonly limit: number;
  readonly hurry: AbortSignal;
}

interface LastConnections {
  readonly open: number;
}

/**
 * Serves new exchanges for the notice period, whether or not any are running; then rejects them, and those in flight finish. At the limit,
 * remaining ones end with an error in their client's format.
 */
export async function drain(handler: ExchangeHandler, { notice, limit, hurry }: DrainTimes): Promise<void> {
  const began = performance.now();
  handler.close();
  await wait(notice * 1000, hurry);
  handler.refuseNew();
  await idle(handler, limit * 1000 - (performance.now() - began));
  if (handler.running === 0) return;
  handler.abortAll(stopping());
  await idle(handler, 2_000);
}

/**
 * Like `drain`, if other processes accept at the same address: every exchange is served, and its response closes the connection. Idle
 * connections get the notice period, and at least five seconds, for their next request.
 */
export async function drainReplaced(
  handler: ExchangeHandler,
  { notice, limit, hurry }: DrainTimes,
  connections: LastConnections,
): Promise<void> {
  const began = performance.now();
  const grace = Math.max(notice, minGraceSeconds) * 1000;
  const isOver = () => hurry.aborted || performance.now() - began > grace;
  handler.close();
  handler.drainConversations();
  while (connections.open > 0 && !isOver()) await pause();
  await idle(handler, limit * 1000 - (performance.now() - began));
  if (handler.running > 0) handler.abortAll(stopping());
  await idle(handler, 2_000);
}

/** Creates the error that ends an exchange when the gateway stops. */
export function stopping(): GatewayError {
  return new GatewayError('shutting_down', 'The gateway is stopping. Send the request again.', { retryAfter: 1 });
}

async function idle(handler: ExchangeHandler, milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  while (handler.running > 0 && performance.now() < until) {
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pollInterval));
}
