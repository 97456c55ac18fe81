import { GatewayError } from '../errors/table.ts';
import type { ExchangeHandler } from './exchange-handler.ts';

/** Ms for which a load balancer may still send requests after `/readyz` has failed. */
const noticePeriod = 5_000;
const pollInterval = 20; // ms

/**
 * Lets exchanges in flight finish. New ones are served for a short time, because load balancers react late; then they
 * are refused. At the limit the remaining ones end with an error in their client's format.
 *
 * @param limit seconds
 */
export async function drain(handler: ExchangeHandler, limit: number): Promise<void> {
  handler.close();
  const notice = setTimeout(() => handler.refuseNew(), Math.min(noticePeriod, limit * 1000));
  await idle(handler, limit * 1000);
  clearTimeout(notice);
  handler.refuseNew();
  if (handler.running === 0) return;
  handler.abortAll(
    new GatewayError('shutting_down', 'The gateway is stopping. Send the request again.', { retryAfter: 1 }),
  );
  await idle(handler, 2_000);
}

/** Resolves when nothing is in flight, or after the given time. */
async function idle(handler: ExchangeHandler, milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  while (handler.running > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}
