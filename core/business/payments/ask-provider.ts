import type { Host } from '#core/gateway/host/host.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { CallBudget, callBudget, type Urgency } from './call-budget.ts';
import { rateListener, type RateStatement } from './call-provider.ts';
import { paymentConnection, providerName } from './connections.ts';
import { countCall } from './payment-figures.ts';
import {
  type ChargeReference,
  type PaymentConnection,
  PaymentError,
  type PaymentEvidence,
} from './payment-provider.ts';
import { paymentsSection } from './section.ts';

const deadlineMs = 10_000;
const defaultCallsPerSecond = 20; // for a provider that documents no limit

type Call<T> = (connection: PaymentConnection, signal: AbortSignal) => Promise<T>;

interface Turn {
  readonly urgency: Urgency;
  /** Runs right before the first call; if it rejects, no call is made. */
  readonly begin?: () => Promise<void>;
}

/**
 * Calls a provider within a deadline, once the provider's rate, which all instances share, allows it. A call rejected for its rate had no
 * effect, and waits for another turn.
 *
 * @throws PaymentError, or the error of `begin`; nothing else
 */
export async function askProvider<T>(
  host: Host,
  provider: string,
  call: Call<T>,
  { urgency, begin }: Turn = { urgency: 'buyer' },
): Promise<T> {
  const connection = connect(host, provider);
  const budget = callBudget(host, provider, urgency === 'charge' ? 'charge' : 'other');
  const until = CallBudget.patience(urgency);
  for (let tries = 0; ; tries++) {
    await budget.turn(rateOf(host, provider, connection), urgency, until);
    if (tries === 0) await begin?.();
    const sentAt = performance.now();
    const statements: RateStatement[] = [];
    try {
      return await rateListener.run(
        (statement) => {
          statements.push(statement);
        },
        () => perform(host, provider, connection, call),
      );
    } catch (error) {
      if (!(error instanceof PaymentError) || !isRateLimited(error, statements)) throw error;
      budget.exceeded(sentAt, error.retryAfter ?? statements.findLast(({ pause }) => pause !== undefined)?.pause);
    } finally {
      const pause = statements.find((statement) => !statement.isExceeded && statement.pause !== undefined)?.pause;
      if (pause !== undefined) budget.exhausted(pause);
    }
  }
}

function isRateLimited({ kind, isRateLimited: isStated }: PaymentError, statements: readonly RateStatement[]): boolean {
  return kind === 'temporary' && (isStated || statements.some(({ isExceeded }) => isExceeded));
}

async function perform<T>(host: Host, provider: string, connection: PaymentConnection, call: Call<T>): Promise<T> {
  const late = `the provider ${provider} did not answer within ${deadlineMs} ms`;
  try {
    const answer = await withDeadline(call(connection, AbortSignal.timeout(deadlineMs)), deadlineMs, late);
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

/** Calls per second: configured (for the provider of new orders), else documented, else the default. */
function rateOf(host: Host, provider: string, { callsPerSecond = defaultCallsPerSecond }: PaymentConnection): number {
  const configured = provider === providerName(host) ? host.section(paymentsSection).calls_per_second : undefined;
  return configured ?? callsPerSecond;
}

/**
 * Reads the status of a charge.
 *
 * @throws PaymentError also if the response is about another charge
 */
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
    return paymentConnection(host, provider);
  } catch (error) {
    throw asPaymentError('temporary', error);
  }
}
