import type { Host } from '#core/gateway/host/host.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { wait } from '#core/platform/timing/wait.ts';
import { SharedUnavailable, type Take } from '#core/platform/shared/shared.ts';
import { paymentConnection } from './connections.ts';
import { countCall } from './payment-figures.ts';
import {
  type ChargeReference,
  type PaymentConnection,
  PaymentError,
  type PaymentEvidence,
} from './payment-provider.ts';

/** Timeouts in ms: one call to a provider, and its wait for a slot under the provider's rate limit. */
const deadlines = { call: 10_000, turn: 5_000 };
/** Calls in a second, where the provider states no other number. */
const usualRate = 5;

/**
 * Calls a provider, within a deadline and the provider's rate, which all instances share.
 *
 * @throws PaymentError and nothing else
 */
export async function askProvider<T>(
  host: Host,
  provider: string,
  call: (connection: PaymentConnection, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const connection = connect(host, provider);
  await takeTurn(host, provider, connection.callsPerSecond ?? usualRate);
  const signal = AbortSignal.timeout(deadlines.call);
  const late = `the provider ${provider} did not answer within ${deadlines.call} ms`;
  try {
    const answer = await withDeadline(call(connection, signal), deadlines.call, late);
    countCall(host, provider, 'ok');
    return answer;
  } catch (error) {
    const failure = error instanceof PaymentError ? error : asPaymentError('unknown', error);
    countCall(host, provider, failure.kind);
    throw failure;
  }
}

function asPaymentError(kind: PaymentError['kind'], error: unknown): PaymentError {
  return new PaymentError(kind, error instanceof Error ? error.message : String(error), { cause: error });
}

/** Reads the status of a charge. @throws PaymentError also when the response is about another charge */
export async function readStatus(
  host: Host,
  provider: string,
  { reference, providerReference, paymentId }: ChargeReference,
): Promise<PaymentEvidence> {
  const evidence = await askProvider(host, provider, (connection, signal) =>
    connection.status({ reference, providerReference, paymentId }, signal),
  );
  if (evidence.reference !== reference)
    throw new PaymentError('unknown', `${provider} was asked about ${reference} and answered about another charge`);
  return evidence;
}

function connect(host: Host, provider: string): PaymentConnection {
  try {
    return paymentConnection(host, provider);
  } catch (error) {
    throw asPaymentError('temporary', error);
  }
}

async function takeTurn(host: Host, provider: string, rate: number): Promise<void> {
  const until = performance.now() + deadlines.turn;
  for (;;) {
    const { refusedBy, retryAfter } = await ask(host, provider, rate);
    if (refusedBy === undefined) return;
    if (performance.now() + retryAfter * 1_000 > until)
      throw new PaymentError('temporary', `too many calls to ${provider}`, { retryAfter });
    await wait(retryAfter * 1_000, AbortSignal.timeout(deadlines.turn));
  }
}

/** Without the shared store each instance is alone with the provider's rate, which the provider enforces. */
async function ask({ shared }: Host, provider: string, rate: number): Promise<Pick<Take, 'refusedBy' | 'retryAfter'>> {
  try {
    return await shared.limiter.take(`payments:${provider}`, { limit: rate, period: 1, burst: rate });
  } catch (error) {
    if (error instanceof SharedUnavailable) return { refusedBy: undefined, retryAfter: 0 };
    throw error;
  }
}
