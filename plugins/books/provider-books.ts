import { askProvider } from '#core/business/payments/ask-provider.ts';
import { getPaymentConnection } from '#core/business/payments/connections.ts';
import {
  PaymentError,
  type PaymentEvidence,
  type StatedMovement,
  type TimeSpan,
} from '#core/business/payments/payment-provider.ts';
import { type RecordedCharge, readCharge } from '#core/business/payments/read-charge.ts';
import { providerIdColumns } from '#core/business/payments/settle.ts';
import type { Host } from '#core/gateway/host/host.ts';

interface ProviderBooks {
  readonly movements: readonly StatedMovement[];
  /** True if the provider lists its movements, including those without an order; false if each charge was queried instead. */
  readonly isList: boolean;
  readonly unread: ReadonlySet<string>; // references of charges whose status could not be read
  readonly unlisted: ReadonlySet<string>; // references of charges whose refunds the provider does not list
}

const maxMovements = 200_000;
const concurrency = 4;

/** @throws PaymentError if the list cannot be read, or the signal has aborted */
export async function readProviderBooks(
  host: Host,
  provider: string,
  span: TimeSpan,
  signal?: AbortSignal,
): Promise<ProviderBooks> {
  const isList = getPaymentConnection(host, provider).listMovements !== undefined;
  return isList ? readList(host, provider, span, signal) : readCharges(host, provider, span, signal);
}

function requireNotAborted(provider: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new PaymentError('temporary', `the books of ${provider} took too long to read`);
}

async function readList(
  host: Host,
  provider: string,
  span: TimeSpan,
  signal: AbortSignal | undefined,
): Promise<ProviderBooks> {
  const movements: StatedMovement[] = [];
  let cursor: string | undefined;
  do {
    requireNotAborted(provider, signal);
    const page = await askProvider(
      host,
      provider,
      async (connection, callSignal) => connection.listMovements?.(span, cursor, callSignal),
      { urgency: 'books' },
    );
    movements.push(...(page?.movements ?? []));
    if (movements.length > maxMovements)
      throw new PaymentError('rejected', `${provider} lists more than ${maxMovements} entries`);
    if (page?.next !== undefined && page.next === cursor)
      throw new PaymentError('rejected', `${provider} repeats a page of its list`);
    cursor = page?.next;
  } while (cursor !== undefined);
  return { movements, isList: true, unread: new Set(), unlisted: new Set() };
}

async function readCharges(
  host: Host,
  provider: string,
  { since, until }: TimeSpan,
  signal: AbortSignal | undefined,
): Promise<ProviderBooks> {
  const charges = await host.database.query<RecordedCharge>(
    `with span as (select to_timestamp(?::float8 / 1000) as since, to_timestamp(?::float8 / 1000) as until)
     select distinct a.reference, ${providerIdColumns}
     from span, payment_attempt a left join payment p on p.reference = a.reference
     where a.provider = ? and a.charge in ('created', 'unknown') and (
       a.created_at between span.since - interval '1 day' and span.until or p.paid_at between span.since and span.until
       or exists (select from refund r where r.payment_id = p.id and r.finished_at between span.since and span.until))
     order by a.reference`,
    [since.getTime(), until.getTime(), provider],
  );
  const [unread, unlisted] = [new Set<string>(), new Set<string>()];
  const movements = new Map<string, StatedMovement>();
  const queue = charges.values();
  const readQueue = async () => {
    for (const charge of queue) {
      requireNotAborted(provider, signal);
      const evidence = await readCharge(host, provider, charge);
      if (evidence === undefined) unread.add(charge.reference);
      else if (evidence.refunds === undefined) unlisted.add(charge.reference);
      for (const movement of toMovements(evidence)) movements.set(`${movement.kind} ${movement.id}`, movement);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, readQueue));
  return { movements: [...movements.values()], isList: false, unread, unlisted };
}

function toMovements(evidence: PaymentEvidence | undefined): StatedMovement[] {
  if (evidence?.paid === undefined || evidence.paidAt === undefined) return [];
  const { reference, paid, paidAt: at, paymentId, refunds = [] } = evidence;
  const doneRefunds = refunds.filter(({ state }) => state === 'done');
  return [
    { kind: 'payment', id: paymentId ?? `charge:${reference}`, reference, ...paid, at },
    ...doneRefunds.map(({ id, key, amount, at: refundedAt = at }) => {
      const { currency } = paid;
      return { kind: 'refund' as const, id, key, reference, amount, currency, at: refundedAt };
    }),
  ];
}
