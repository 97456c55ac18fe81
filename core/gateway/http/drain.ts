import { GatewayError } from '#core/platform/errors/table.ts';
import { wait } from '#core/platform/timing/wait.ts';
import type { ExchangeHandler } from './exchange-handler.ts';
import { truncationGraceMs } from './pipelining.ts';

const pollIntervalMs = 20;
const abortGraceMs = 2_000;
const minGraceSeconds = 5; // a request may be on its way on a newly accepted connection

interface DrainTimes {
  readonly noticeSeconds: number; // new exchanges are still served, because load balancers react late
  readonly limitSeconds: number; // for exchanges in flight, from the start of the drain; at least the notice period
  readonly skipNotice: AbortSignal; // ends the notice period
}

interface OpenConnections {
  readonly openCount: number;
}

/**
 * Stops serving. New exchanges are served for the notice period, even if none are running, and refused afterwards. Exchanges in flight may
 * finish until the limit, and then end with an error in their client's format.
 */
export async function drain(
  handler: ExchangeHandler,
  { noticeSeconds, limitSeconds, skipNotice }: DrainTimes,
): Promise<void> {
  const startedAt = performance.now();
  handler.closeAfterResponses();
  await wait(noticeSeconds * 1000, skipNotice);
  handler.refuseNew();
  await finishOrAbort(handler, limitSeconds * 1000 - (performance.now() - startedAt));
}

/**
 * Stops serving while other processes accept connections at the same address. Every exchange is served, and its response closes the
 * connection. Idle connections get the notice period, at least five seconds, for their next request.
 */
export async function drainReplaced(
  handler: ExchangeHandler,
  { noticeSeconds, limitSeconds, skipNotice }: DrainTimes,
  connections: OpenConnections,
): Promise<void> {
  const startedAt = performance.now();
  const graceMs = Math.max(noticeSeconds, minGraceSeconds) * 1000;
  const isGraceOver = () => skipNotice.aborted || performance.now() - startedAt > graceMs;
  handler.closeAfterResponses();
  handler.closeIdleConnections();
  while (connections.openCount > 0 && !isGraceOver()) await pause();
  await finishOrAbort(handler, limitSeconds * 1000 - (performance.now() - startedAt));
}

export function stoppingError(): GatewayError {
  return new GatewayError('shutting_down', 'The gateway is stopping. Send the request again.', { retryAfter: 1 });
}

async function finishOrAbort(handler: ExchangeHandler, timeoutMs: number): Promise<void> {
  await waitUntilIdle(handler, timeoutMs);
  if (handler.exchangesInFlight === 0) return;
  handler.abortAll(stoppingError());
  await waitUntilIdle(handler, abortGraceMs);
  await pause(truncationGraceMs);
}

async function waitUntilIdle(handler: ExchangeHandler, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (handler.exchangesInFlight > 0 && performance.now() < deadline) await pause();
}

function pause(milliseconds = pollIntervalMs): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
