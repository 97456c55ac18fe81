import type { Host } from '#core/gateway/host/host.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { CallBudget, getCallBudget, type Urgency } from './call-budget.ts';
import { rateListener, type RateReport } from './call-provider.ts';
import { getPaymentConnection, getConfiguredProviderName } from './connections.ts';
import { countCall } from './payment-figures.ts';
import {
  type ChargeReference,
  type PaymentConnection,
  PaymentError,
  type PaymentEvidence,
} from './payment-provider.ts';
import { paymentsSection } from './section.ts';

const deadlineMs = 10_000;
const defaultCallsPerSecond = 20; // used if the provider documents no limit

type Call<T> = (connection: PaymentConnection, signal: AbortSignal) => Promise<T>;

interface CallOptions {
  readonly urgency: Urgency;
  readonly beforeFirstCall?: () => Promise<void>; // if it rejects, no call is made
}

/**
 * Calls a provider within a deadline, as soon as the rate budget shared by all instances allows it. A call rejected by the provider's rate
 * limit had no effect, so it is retried on its next turn.
 *
 * @throws PaymentError, or the error of `beforeFirstCall`
 */
export async function askProvider<T>(
  host: Host,
  provider: string,
  call: Call<T>,
  { urgency, beforeFirstCall }: CallOptions = { urgency: 'buyer' },
): Promise<T> {
  const connection = connect(host, provider);
  const budget = getCallBudget(host, provider, urgency === 'charge' ? 'charge' : 'other');
  const deadline = CallBudget.turnDeadline(urgency);
  for (let tries = 0; ; tries++) {
    await budget.waitForTurn(selectRate(host, provider, connection), urgency, deadline);
    if (tries === 0) await beforeFirstCall?.();
    const sentAt = performance.now();
    const reports: RateReport[] = [];
    try {
      return await rateListener.run(
        (report) => {
          reports.push(report);
        },
        () => callOnce(host, provider, connection, call),
      );
    } catch (error) {
      if (!(error instanceof PaymentError) || !isRateLimited(error, reports)) throw error;
      const lastPause = reports.findLast(({ pauseSeconds }) => pauseSeconds !== undefined)?.pauseSeconds;
      budget.slowDown(sentAt, error.retryAfter ?? lastPause);
    } finally {
      // The response to an accepted call can also report that the rate limit is exhausted.
      const nextPause = reports.find((report) => !report.isExceeded && report.pauseSeconds !== undefined)?.pauseSeconds;
      if (nextPause !== undefined) budget.pause(nextPause);
    }
  }
}

function isRateLimited({ kind, isRateLimited: isReported }: PaymentError, reports: readonly RateReport[]): boolean {
  return kind === 'temporary' && (isReported || reports.some(({ isExceeded }) => isExceeded));
}

async function callOnce<T>(host: Host, provider: string, connection: PaymentConnection, call: Call<T>): Promise<T> {
  const timeoutMessage = `the provider ${provider} did not answer within ${deadlineMs} ms`;
  try {
    const result = await withDeadline(call(connection, AbortSignal.timeout(deadlineMs)), deadlineMs, timeoutMessage);
    countCall(host, provider, 'ok');
    return result;
  } catch (error) {
    const failure = error instanceof PaymentError ? error : toPaymentError('unknown', error);
    countCall(host, provider, failure.kind);
    throw failure;
  }
}

function toPaymentError(kind: PaymentError['kind'], error: unknown): PaymentError {
  return new PaymentError(kind, error instanceof Error ? error.message : String(error), { cause: error });
}

function selectRate(
  host: Host,
  provider: string,
  { callsPerSecond = defaultCallsPerSecond }: PaymentConnection,
): number {
  // The setting applies only to the provider used for new orders.
  const configured =
    provider === getConfiguredProviderName(host) ? host.section(paymentsSection).calls_per_second : undefined;
  return configured ?? callsPerSecond;
}

/** @throws PaymentError; `unknown` also if the response is about a different charge */
export async function readStatus(
  host: Host,
  provider: string,
  { reference, providerReference, paymentId }: ChargeReference,
  urgency: Urgency,
): Promise<PaymentEvidence> {
  const evidence = await askProvider(
    host,
    provider,
    (connection, signal) => connection.status({ reference, providerReference, paymentId }, signal),
    { urgency },
  );
  if (evidence.reference !== reference)
    throw new PaymentError('unknown', `${provider} was asked about ${reference} and answered about another charge`);
  return evidence;
}

function connect(host: Host, provider: string): PaymentConnection {
  try {
    return getPaymentConnection(host, provider);
  } catch (error) {
    throw toPaymentError('temporary', error);
  }
}
