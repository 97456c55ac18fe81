import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { recordEvent } from '../accounts/account-events.ts';
import { addDays, lockAccount } from '../accounts/ledger.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type Decision, decide } from './decide.ts';
import { recordExpired } from './expiry.ts';
import { flagOrder } from './flags.ts';
import { giftSteps } from './gifts.ts';
import type { OrderState } from './order-types.ts';
import type { PaymentEvidence } from './payment-provider.ts';
import { storePaymentReceipt } from './receipts.ts';
import { recordRefunded } from './refund-effects.ts';
import { enterStatedRefunds, type RecordedPayment } from './stated-refunds.ts';
import { epochOf, statedTime } from './stated-time.ts';
import { toStoredJson } from './stored-json.ts';
import type { Fields, Row } from '#core/platform/database/rows.ts';
import type { Payment, PaymentAttempt, PlanOrder } from './entities.ts';

/**
 * Result of evidence. `unknown_order`: it names no charge of ours at this provider. `foreign`: it names our charge together with another
 * charge of the provider, or with a payment of another order. `refunded`: money went back, perhaps only a part. `unchanged`: nothing new.
 */
interface Settlement {
  readonly outcome: SettlementOutcome;
  readonly orderId?: string;
  readonly accountId?: string;
}

type SettlementOutcome = 'unknown_order' | 'foreign' | 'unchanged' | 'flagged' | Exclude<OrderState, 'created'>;

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
 * Applies a provider's report of a charge to its order and to the ledger, in one transaction and exactly once, however often, in any order
 * and from any number of processes it is called. Locks the order, then the account, so that two orders of one account add up.
 *
 * The evidence must be complete: from a status read, or from a notification whose signature covers state, amount and id.
 */
export async function settle(host: Host, provider: string, evidence: PaymentEvidence): Promise<Settlement> {
  return host.database.fork().transactional((transaction) => settleWithin(host, transaction, provider, evidence));
}

async function settleWithin(
  host: Host,
  transaction: EntityManager,
  provider: string,
  evidence: PaymentEvidence,
): Promise<Settlement> {
  const subject = await lockSubject(transaction, provider, evidence);
  if (subject === undefined) return { outcome: 'unknown_order' };
  const { orderId, accountId } = subject;
  const charge = await classifyReference(transaction, provider, subject, evidence);
  if (charge !== 'own') {
    if (charge === 'unseen' && evidence.paid !== undefined)
      await enterUnseenPayment(host, transaction, provider, subject, evidence);
    else if (evidence.state === 'paid')
      // Money may be missing for the order that it was meant for.
      await flagOrder(transaction, subject, 'wrong_reference', evidence.providerReference);
    return { outcome: 'foreign', orderId, accountId };
  }
  const recorded = await readRecorded(transaction, provider, subject, evidence);
  if (recorded === 'other order') return { outcome: 'foreign', orderId, accountId };
  const decision = decide({
    order: subject.state,
    isLastAttempt: subject.isLast,
    expected: subject,
    evidence: evidence.state,
    paid: evidence.paid,
    recorded: recorded?.outcome,
  });
  const entered = await apply(transaction, provider, subject, evidence, decision);
  if (entered !== undefined) await storePaymentReceipt(host, transaction, provider, entered.id);
  const payment = entered ?? recorded;
  await noteStatement(transaction, subject, evidence, paymentIdOf(subject, evidence));
  const outcome = decision.state ?? (decision.flag === undefined ? 'unchanged' : 'flagged');
  const isBack = payment !== undefined && (evidence.state === 'refunded' || (evidence.refunds?.length ?? 0) > 0);
  if (!isBack) return { outcome: outcome as SettlementOutcome, orderId, accountId };
  const before = await countFinishedRefunds(transaction, orderId);
  await enterStatedRefunds(transaction, payment, evidence);
  const hasMore = (await countFinishedRefunds(transaction, orderId)) > before;
  return { outcome: hasMore ? 'refunded' : (outcome as SettlementOutcome), orderId, accountId };
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
  const [found] = await transaction.execute<Row<typeof PaymentAttempt, 'order_id' | 'reference'>[]>(
    `select order_id, reference from payment_attempt
     where provider = ? and (reference = ? or provider_reference = ?) order by reference = ? desc limit 1`,
    [provider, reference, providerReference ?? null, reference],
  );
  if (found === undefined) return undefined;
  // Not `for update`: shifting a later order's period references that order, and would wait for its settlement.
  await transaction.execute('select 1 from plan_order where id = ? for no key update', [found.order_id]);
  const [subject] = await transaction.execute<Subject[]>(
    `select o.id as "orderId", o.account_id as "accountId", o.state, o.days, o.label, o.limits::text as limits,
       o.is_gift as "isGift", a.reference,
       a.provider_reference as "providerReference", a.amount::float8 as amount, a.currency,
       not exists (select 1 from payment_attempt b where b.order_id = o.id and b.number > a.number) as "isLast"
     from plan_order o join payment_attempt a on a.order_id = o.id where a.reference = ?`,
    [found.reference],
  );
  return subject;
}

/** The reference may be this attempt's charge, another one of ours, or a charge the buyer never saw. */
async function classifyReference(
  transaction: EntityManager,
  provider: string,
  { reference, providerReference }: Subject,
  { providerReference: stated }: PaymentEvidence,
): Promise<'own' | 'other' | 'unseen'> {
  if (stated === undefined || stated === providerReference) return 'own';
  const [other] = await transaction.execute<unknown[]>(
    'select 1 from payment_attempt where provider = ? and provider_reference = ? and reference <> ?',
    [provider, stated, reference],
  );
  if (other !== undefined) return 'other';
  return providerReference === null ? 'own' : 'unseen';
}

/** Records money of a charge that the buyer never saw, for example after a lost response. It buys nothing. */
async function enterUnseenPayment(
  host: Host,
  transaction: EntityManager,
  provider: string,
  subject: Subject,
  evidence: PaymentEvidence,
): Promise<void> {
  if (evidence.state !== 'paid' && evidence.state !== 'refunded') return;
  const recorded = await readRecorded(transaction, provider, subject, evidence);
  if (recorded === 'other order') return;
  const outcome = evidence.state === 'refunded' ? 'returned' : 'wrong_reference';
  const payment = recorded ?? (await recordPayment(transaction, provider, subject, evidence, outcome));
  if (recorded === undefined) await storePaymentReceipt(host, transaction, provider, payment.id);
  if (recorded === undefined && outcome === 'wrong_reference')
    await flagOrder(transaction, subject, 'wrong_reference', paymentIdOf(subject, evidence));
  await enterStatedRefunds(transaction, payment, evidence);
}

/** The provider's reference in the evidence, if it differs from the attempt's. */
function unseenCharge(
  { providerReference: own }: Subject,
  { providerReference: stated }: PaymentEvidence,
): string | null {
  return own === null || stated === undefined || stated === own ? null : stated;
}

async function readRecorded(
  transaction: EntityManager,
  provider: string,
  subject: Subject,
  evidence: PaymentEvidence,
): Promise<RecordedPayment | 'other order' | undefined> {
  const [paymentId, placeholder] = [paymentIdOf(subject, evidence), placeholderId(subject, evidence)];
  const [row] = await transaction.execute<(RecordedPayment & Row<typeof Payment, 'payment_id'>)[]>(
    `select id, order_id as "orderId", outcome, amount::float8 as amount, payment_id from payment
     where provider = ? and (payment_id = ? or (
       reference = ? and provider_reference is not distinct from ? and (?::boolean or payment_id = ?)))
     order by payment_id = ? desc, outcome = 'activated' desc limit 1`,
    [
      provider,
      paymentId,
      subject.reference,
      unseenCharge(subject, evidence),
      evidence.paymentId === undefined,
      placeholder,
      paymentId,
    ],
  );
  if (row === undefined) return undefined;
  if (row.orderId !== subject.orderId) return 'other order';
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
  return evidence.paymentId ?? placeholderId(subject, evidence);
}

/** Stands in until the provider reports a payment id. */
function placeholderId(subject: Subject, evidence: PaymentEvidence): string {
  return `charge:${unseenCharge(subject, evidence) ?? subject.reference}`;
}

/** SQL: the provider's ids of a payment `p` of an attempt `a`, and of its charge. */
export const namesAtProvider = `coalesce(p.provider_reference, a.provider_reference) as "providerReference",
  nullif(p.payment_id, 'charge:' || coalesce(p.provider_reference, a.reference)) as "paymentId"`;

async function apply(
  transaction: EntityManager,
  provider: string,
  subject: Subject,
  evidence: PaymentEvidence,
  { state, isLate = false, payment, flag }: Decision,
): Promise<RecordedPayment | undefined> {
  const { orderId, accountId } = subject;
  const recorded = payment && (await recordPayment(transaction, provider, subject, evidence, payment));
  if (state !== undefined) {
    await transaction.execute(
      `update plan_order set state = ?, is_late = is_late or ?::boolean,
         paid_at = case when ?::boolean then ${statedTime('clock_timestamp()')} else paid_at end
       where id = ?`,
      [state, isLate, state === 'paid' || state === 'refunded', epochOf(evidence.paidAt), orderId],
    );
  }
  if (payment === 'activated') await activate(transaction, subject);
  if (state === 'refunded') await recordRefunded(transaction, orderId, accountId);
  if (state === 'expired') await recordExpired(transaction, orderId);
  if (flag !== undefined) await flagOrder(transaction, subject, flag, paymentIdOf(subject, evidence));
  return recorded;
}

/** Adds the days to the buyer's account (also for a gift, if no plugin makes codes any more); otherwise makes the gift's code. */
async function activate(transaction: EntityManager, subject: Subject): Promise<void> {
  const { orderId, accountId, days, label, limits, isGift } = subject;
  const { deletedAt } = await lockAccount(transaction, accountId);
  if (deletedAt !== undefined) await flagOrder(transaction, subject, 'deleted_account');
  const steps = isGift ? await giftSteps.of(transaction)?.() : undefined;
  if (isGift && steps === undefined) await flagOrder(transaction, subject, 'gift_without_code');
  if (steps !== undefined) await steps.issueGift(transaction, orderId);
  else
    await addDays(transaction, accountId, {
      days,
      reason: 'order',
      orderId,
      label: label ?? undefined,
      limits: limits === null ? undefined : (JSON.parse(limits) ?? undefined),
    });
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
  const [id, paymentId] = [randomUUIDv7(), paymentIdOf(subject, evidence)];
  await transaction.execute(
    `insert into payment (id, order_id, reference, provider, provider_reference, payment_id, amount, currency, paid_at, issuer,
       outcome, raw)
     values (?, ?, ?, ?, ?, ?, ?, ?, ${statedTime('clock_timestamp()')}, ?, ?, ?::json)`,
    [
      id,
      orderId,
      reference,
      provider,
      unseenCharge(subject, evidence),
      paymentId,
      amount,
      currency,
      epochOf(paidAt),
      issuer,
      outcome,
      toStoredJson(raw),
    ],
  );
  const received = { orderId, accountId, paymentId, amount, currency, outcome };
  await recordEvent(transaction, 'payment.received', received, `payment.received:${id}`);
  return { id, orderId, amount, outcome };
}

/** Stores the provider's report of the charge, which is refunded once all its payments are. A paid charge needs no more checks. */
async function noteStatement(
  transaction: EntityManager,
  { reference }: Subject,
  { state, providerReference }: PaymentEvidence,
  paymentId: string,
): Promise<void> {
  const isFinal = state === 'paid' || state === 'refunded';
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
