import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import type { Fields, Row } from '#core/platform/database/rows.ts';
import { recordEvent } from '../accounts/account-events.ts';
import { addDays, lockAccount } from '../accounts/ledger.ts';
import { type Decision, decideEffects } from './decide.ts';
import type { Payment, PaymentAttempt, PlanOrder } from './entities.ts';
import { recordExpiry } from './expiry.ts';
import { flagOrder } from './flags.ts';
import { giftSteps } from './gifts.ts';
import type { OrderState } from './order-types.ts';
import type { PaymentEvidence } from './payment-provider.ts';
import { storePaymentReceipt } from './receipts.ts';
import { recordRefunded } from './refund-effects.ts';
import { enterStatedRefunds, type RecordedPayment } from './stated-refunds.ts';
import { toEpoch, statedTimeSql } from './stated-time.ts';
import { toStoredJson } from './stored-json.ts';

/**
 * Result of applying evidence. `unknown_order`: it names none of our charges at this provider. `foreign`: it names our charge together with
 * a different charge at the provider, or with a payment for a different order. `refunded`: money was returned, in full or in part.
 * `unchanged`: it contained nothing new.
 */
type SettlementOutcome = 'unknown_order' | 'foreign' | 'unchanged' | 'flagged' | Exclude<OrderState, 'created'>;

/** The locked order that evidence is about, with the attempt that was charged. */
interface Subject
  extends
    Fields<typeof PlanOrder, 'state' | 'days' | 'label' | 'isGift'>,
    Fields<typeof PaymentAttempt, 'reference' | 'providerReference' | 'amount' | 'currency'> {
  readonly orderId: string;
  readonly accountId: string;
  readonly limits: string | null;
  readonly isLast: boolean;
}

/**
 * Applies a provider's report on a charge to its order and to the ledger, in one transaction. Each report takes effect exactly once, no
 * matter how often, in what order and from how many processes this is called. The order is locked before the account, so that the days of
 * two orders of one account add up.
 *
 * The evidence must be complete: it must come from a status read, or from a notification whose signature covers state, amount and id.
 */
export async function settle(host: Host, provider: string, evidence: PaymentEvidence): Promise<SettlementOutcome> {
  return host.database
    .fork()
    .transactional((transaction) => settleInTransaction(host, transaction, provider, evidence));
}

async function settleInTransaction(
  host: Host,
  transaction: EntityManager,
  provider: string,
  evidence: PaymentEvidence,
): Promise<SettlementOutcome> {
  const subject = await lockSubject(transaction, provider, evidence);
  if (subject === undefined) return 'unknown_order';
  const chargeKind = await classifyReference(transaction, provider, subject, evidence);
  if (chargeKind !== 'own') {
    if (chargeKind === 'unseen' && evidence.paid !== undefined) {
      await recordUnseenPayment(host, transaction, provider, subject, evidence);
    } else if (evidence.state === 'paid') {
      // The money may be missing from the order that it was meant for.
      await flagOrder(transaction, subject, 'wrong_reference', evidence.providerReference);
    }
    return 'foreign';
  }
  const recordedPayment = await readRecordedPayment(transaction, provider, subject, evidence);
  if (recordedPayment === 'other order') return 'foreign';
  const decision = decideEffects({
    orderState: subject.state,
    isLastAttempt: subject.isLast,
    expected: subject,
    reportedState: evidence.state,
    paid: evidence.paid,
    recordedOutcome: recordedPayment?.outcome,
  });
  const newPayment = await applyDecision(transaction, provider, subject, evidence, decision);
  if (newPayment !== undefined) await storePaymentReceipt(host, transaction, provider, newPayment.id, subject);
  const payment = newPayment ?? recordedPayment;
  await storeReport(transaction, subject, evidence, paymentIdOf(subject, evidence));
  const outcome = (decision.state ?? (decision.flag === undefined ? 'unchanged' : 'flagged')) as SettlementOutcome;
  const hasRefunds = evidence.state === 'refunded' || (evidence.refunds?.length ?? 0) > 0;
  if (payment === undefined || !hasRefunds) return outcome;
  const { orderId } = subject;
  const refundsBefore = await countFinishedRefunds(transaction, orderId);
  await enterStatedRefunds(transaction, payment, evidence);
  const refundsAfter = await countFinishedRefunds(transaction, orderId);
  return refundsAfter > refundsBefore ? 'refunded' : outcome;
}

async function countFinishedRefunds(transaction: EntityManager, orderId: string): Promise<number> {
  const [refunds] = await transaction.execute<{ count: number }[]>(
    `select count(*)::int as count from refund where order_id = ? and state = 'done'`,
    [orderId],
  );
  return refunds?.count ?? 0;
}

async function lockSubject(
  transaction: EntityManager,
  provider: string,
  { reference, providerReference }: PaymentEvidence,
): Promise<Subject | undefined> {
  const [attempt] = await transaction.execute<Row<typeof PaymentAttempt, 'order_id' | 'reference'>[]>(
    `select order_id, reference from payment_attempt
     where provider = ? and (reference = ? or provider_reference = ?) order by reference = ? desc limit 1`,
    [provider, reference, providerReference ?? null, reference],
  );
  if (attempt === undefined) return undefined;
  // Not `for update`: when a later order's period is shifted, its row references that order and would wait for its settlement.
  await transaction.execute('select 1 from plan_order where id = ? for no key update', [attempt.order_id]);
  const [subject] = await transaction.execute<Subject[]>(
    `select o.id as "orderId", o.account_id as "accountId", o.state, o.days, o.label, o.limits::text as limits,
       o.is_gift as "isGift", a.reference,
       a.provider_reference as "providerReference", a.amount::float8 as amount, a.currency,
       not exists (select 1 from payment_attempt b where b.order_id = o.id and b.number > a.number) as "isLast"
     from plan_order o join payment_attempt a on a.order_id = o.id where a.reference = ?`,
    [attempt.reference],
  );
  return subject;
}

async function classifyReference(
  transaction: EntityManager,
  provider: string,
  { reference, providerReference }: Subject,
  { providerReference: reported }: PaymentEvidence,
): Promise<'own' | 'other' | 'unseen'> {
  if (reported === undefined || reported === providerReference) return 'own';
  const [otherAttempt] = await transaction.execute<unknown[]>(
    'select 1 from payment_attempt where provider = ? and provider_reference = ? and reference <> ?',
    [provider, reported, reference],
  );
  if (otherAttempt !== undefined) return 'other';
  // Unseen by the buyer, for example because the response to the charge request was lost.
  return providerReference === null ? 'own' : 'unseen';
}

async function recordUnseenPayment(
  host: Host,
  transaction: EntityManager,
  provider: string,
  subject: Subject,
  evidence: PaymentEvidence,
): Promise<void> {
  if (evidence.state !== 'paid' && evidence.state !== 'refunded') return;
  const recorded = await readRecordedPayment(transaction, provider, subject, evidence);
  if (recorded === 'other order') return;
  const outcome = evidence.state === 'refunded' ? 'returned' : 'wrong_reference';
  const payment = recorded ?? (await recordPayment(transaction, provider, subject, evidence, outcome));
  if (recorded === undefined) await storePaymentReceipt(host, transaction, provider, payment.id, subject);
  if (recorded === undefined && outcome === 'wrong_reference')
    await flagOrder(transaction, subject, 'wrong_reference', paymentIdOf(subject, evidence));
  await enterStatedRefunds(transaction, payment, evidence);
}

function findUnseenReference(
  { providerReference }: Subject,
  { providerReference: reported }: PaymentEvidence,
): string | null {
  return providerReference === null || reported === undefined || reported === providerReference ? null : reported;
}

async function readRecordedPayment(
  transaction: EntityManager,
  provider: string,
  subject: Subject,
  evidence: PaymentEvidence,
): Promise<RecordedPayment | 'other order' | undefined> {
  const paymentId = paymentIdOf(subject, evidence);
  const placeholder = buildPlaceholderId(subject, evidence);
  const [row] = await transaction.execute<(RecordedPayment & Row<typeof Payment, 'payment_id'>)[]>(
    `select id, order_id as "orderId", outcome, amount::float8 as amount, payment_id from payment
     where provider = ? and (payment_id = ? or (
       reference = ? and provider_reference is not distinct from ? and (?::boolean or payment_id = ?)))
     order by payment_id = ? desc, outcome = 'activated' desc limit 1`,
    [
      provider,
      paymentId,
      subject.reference,
      findUnseenReference(subject, evidence),
      evidence.paymentId === undefined,
      placeholder,
      paymentId,
    ],
  );
  if (row === undefined) return undefined;
  if (row.orderId !== subject.orderId) return 'other order';
  // The first evidence that contains the provider's id.
  if (evidence.paymentId !== undefined && row.payment_id === placeholder) {
    await transaction.execute('update payment set payment_id = ? where provider = ? and payment_id = ?', [
      evidence.paymentId,
      provider,
      row.payment_id,
    ]);
  }
  return row;
}

function paymentIdOf(subject: Subject, evidence: PaymentEvidence): string {
  return evidence.paymentId ?? buildPlaceholderId(subject, evidence);
}

function buildPlaceholderId(subject: Subject, evidence: PaymentEvidence): string {
  return `charge:${findUnseenReference(subject, evidence) ?? subject.reference}`;
}

/** SQL columns: the provider's ids for a payment `p` and for its charge, the attempt `a`. */
export const providerIdColumns = `coalesce(p.provider_reference, a.provider_reference) as "providerReference",
  nullif(p.payment_id, 'charge:' || coalesce(p.provider_reference, a.reference)) as "paymentId"`;

async function applyDecision(
  transaction: EntityManager,
  provider: string,
  subject: Subject,
  evidence: PaymentEvidence,
  { state, isLate = false, payment, flag }: Decision,
): Promise<RecordedPayment | undefined> {
  const { orderId, accountId } = subject;
  const newPayment = payment && (await recordPayment(transaction, provider, subject, evidence, payment));
  if (state !== undefined) {
    await transaction.execute(
      `update plan_order set state = ?, is_late = is_late or ?::boolean,
         paid_at = case when ?::boolean then ${statedTimeSql('clock_timestamp()')} else paid_at end
       where id = ?`,
      [state, isLate, state === 'paid' || state === 'refunded', toEpoch(evidence.paidAt), orderId],
    );
  }
  if (payment === 'activated') await activateOrder(transaction, subject);
  if (state === 'refunded') await recordRefunded(transaction, orderId, accountId);
  if (state === 'expired') await recordExpiry(transaction, orderId);
  if (flag !== undefined) await flagOrder(transaction, subject, flag, paymentIdOf(subject, evidence));
  return newPayment;
}

async function activateOrder(transaction: EntityManager, subject: Subject): Promise<void> {
  const { orderId, accountId, days, label, limits, isGift } = subject;
  const { deletedAt } = await lockAccount(transaction, accountId);
  if (deletedAt !== undefined) await flagOrder(transaction, subject, 'deleted_account');
  const steps = isGift ? await giftSteps.findLoader(transaction)?.() : undefined;
  if (isGift && steps === undefined) await flagOrder(transaction, subject, 'gift_without_code');
  if (steps !== undefined) {
    await steps.issueGift(transaction, orderId);
  } else {
    await addDays(transaction, accountId, {
      days,
      reason: 'order',
      orderId,
      label: label ?? undefined,
      limits: limits === null ? undefined : (JSON.parse(limits) ?? undefined),
    });
  }
  await recordEvent(transaction, 'order.paid', { orderId, accountId }, `order.paid:${orderId}`);
}

async function recordPayment(
  transaction: EntityManager,
  provider: string,
  subject: Subject,
  evidence: PaymentEvidence,
  outcome: RecordedPayment['outcome'],
): Promise<RecordedPayment> {
  const { orderId, accountId, reference } = subject;
  const { paid, paidAt, issuer = null, raw } = evidence;
  const { amount = 0, currency = '' } = paid ?? {};
  const id = randomUUIDv7();
  const paymentId = paymentIdOf(subject, evidence);
  await transaction.execute(
    `insert into payment (id, order_id, reference, provider, provider_reference, payment_id, amount, currency, paid_at, issuer,
       outcome, raw)
     values (?, ?, ?, ?, ?, ?, ?, ?, ${statedTimeSql('clock_timestamp()')}, ?, ?, ?::json)`,
    [
      id,
      orderId,
      reference,
      provider,
      findUnseenReference(subject, evidence),
      paymentId,
      amount,
      currency,
      toEpoch(paidAt),
      issuer,
      outcome,
      toStoredJson(raw),
    ],
  );
  const payload = { orderId, accountId, paymentId, amount, currency, outcome };
  await recordEvent(transaction, 'payment.received', payload, `payment.received:${id}`);
  return { id, orderId, amount, outcome };
}

async function storeReport(
  transaction: EntityManager,
  { reference }: Subject,
  { state, providerReference }: PaymentEvidence,
  paymentId: string,
): Promise<void> {
  const isFinal = state === 'paid' || state === 'refunded';
  // The charge is refunded once all its payments are.
  await transaction.execute(
    `update payment_attempt a set state = case when ?::boolean and exists (
         select from payment p where p.reference = a.reference and p.payment_id <> ? and p.amount >
           (select coalesce(sum(amount), 0) from refund r where r.payment_id = p.id and r.state = 'done')
       ) then 'paid' else ? end, provider_reference = coalesce(provider_reference, ?),
       charge = case when charge in ('unknown', 'none') and ?::boolean then 'created' else charge end,
       next_check_at = case when ?::boolean then null else next_check_at end
     where reference = ?`,
    [state === 'refunded', paymentId, state, providerReference ?? null, state !== 'unknown', isFinal, reference],
  );
}
