import { GatewayError } from '../errors/table.ts';
import type { ExchangeHandler } from './exchange-handler.ts';

/** Ms for which a load balancer may go on sending requests after it was told not to. */
const noticePeriod = 5_000;
const pollInterval = 20; // ms

/**
 * Lets the exchanges under way finish. New ones are served for a short while, since load balancers learn late; then
 * they are refused. At the limit what still runs is ended with an error that its client understands.
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
    new GatewayError('shutting_down', 'the gateway is stopping; send the request again', { retryAfter: 1 }),
  );
  await idle(handler, 2_000);
}

/** Resolves when nothing runs any more, or when the time is over. */
async function idle(handler: ExchangeHandler, milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  while (handler.running > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}
