import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { translateRecordedLabel } from '#core/business/accounts/plans.ts';
import type { OrderLines, Payment, PlanOrder } from '#core/business/payments/entities.ts';
import type { Sale } from '#core/business/payments/receipts.ts';
import { service as serviceSection } from '#core/config/sections/core-sections.ts';
import { formatContact } from '#core/gateway/host/contact.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { epoch, epochs, type Row } from '#core/platform/database/rows.ts';
import { formatLocalTime } from '#core/platform/timing/time-zone.ts';
import type { ReceiptContent, ReceiptSeller } from './content.ts';
import type { ReceiptCompany } from './entities.ts';
import { type Seller, sellerSection, findTax } from './section.ts';
import { computeTaxBase, computeIncludedTax } from './tax.ts';

/*
 * Stores receipts within the transactions in which core records a payment or completes a refund. One statement reads and one inserts, and
 * two payments never share a lock.
 */

type StoringHost = Pick<Host, 'section' | 'service'>;

type Nullable<Columns> = { readonly [Name in keyof Columns]: Columns[Name] | null };

interface SaleRow
  extends
    Row<typeof Payment, 'amount' | 'currency' | 'paid_at' | 'issuer' | 'outcome' | 'payment_id'>,
    Row<typeof PlanOrder, 'code' | 'account_id' | 'days' | 'label'>,
    Nullable<Row<typeof OrderLines, 'lines'>>,
    Nullable<Row<typeof ReceiptCompany, 'company' | 'npwp'>> {
  readonly order_id: string;
  readonly reference: string;
  readonly buyer: string;
  readonly starts_at: number | null;
  readonly ends_at: number | null;
}

export async function storePayment(
  host: StoringHost,
  transaction: EntityManager,
  paymentId: string,
  { isTest, remark }: Sale,
): Promise<void> {
  const seller = host.section(sellerSection);
  if (seller.name === undefined) return;
  const [sale] = await transaction.execute<SaleRow[]>(
    `select p.amount::float8 as amount, p.currency, p.issuer, p.outcome, p.payment_id, p.reference, ${epochs('p.paid_at')},
       o.id as order_id, o.code, o.account_id, o.days, o.label, l.lines, coalesce(a.name, '') as buyer, c.company, c.npwp,
       ${epoch('t.starts_at')} as starts_at, ${epoch('t.ends_at')} as ends_at
     from payment p join plan_order o on o.id = p.order_id join account a on a.id = o.account_id
       left join receipt_company c on c.order_id = o.id left join order_lines l on l.order_id = o.id
       left join lateral (select starts_at, ends_at from plan_period where order_id = o.id and reason = 'order' limit 1) t
         on p.outcome = 'activated'
     where p.id = ?`,
    [paymentId],
  );
  if (sale === undefined || sale.amount <= 0) return;
  const content = describeSale(host, seller, sale, remark);
  await transaction.execute(
    `insert into receipt (id, kind, payment_id, order_id, account_id, code, made_at, currency, amount, tax, buyer, company, npwp, content,
       is_test)
     select ?, 'payment', p.id, p.order_id, ?, ?, p.paid_at, p.currency, p.amount, ?::bigint, ?, ?, ?, ?::jsonb, ?::boolean
     from payment p where p.id = ?`,
    [
      randomUUIDv7(),
      sale.account_id,
      sale.code,
      content.tax === undefined ? null : computeIncludedTax(sale.amount, content.tax),
      sale.buyer,
      sale.company,
      sale.npwp,
      JSON.stringify(content),
      isTest,
      paymentId,
    ],
  );
}

function describeSale(host: StoringHost, seller: Seller, sale: SaleRow, remark: Sale['remark']): ReceiptContent {
  const { time_zone: timeZone } = host.section(serviceSection);
  const tax = findTax(seller, formatLocalTime(new Date(sale.paid_at), timeZone).day);
  const { label, starts_at: from, ends_at: until } = sale;
  return {
    seller: describeSeller(host, seller, tax !== undefined),
    tax,
    taxBase: tax && computeTaxBase(sale.amount, tax),
    timeZone,
    plan: {
      days: sale.days,
      ...(remark !== undefined && { remark }),
      ...(label !== null && { label: { en: label, id: translateRecordedLabel('id', label, host) } }),
      ...(from !== null &&
        until !== null && { from: new Date(from).toISOString(), until: new Date(until).toISOString() }),
    },
    outcome: sale.outcome,
    ...(sale.issuer !== null && { issuer: sale.issuer }),
    // Until the provider reports an id for the payment, the charge's reference is used.
    reference: sale.payment_id.startsWith('charge:') ? sale.reference : sale.payment_id,
    ...(sale.lines !== null && { lines: sale.lines }),
  };
}

function describeSeller({ service }: StoringHost, seller: Seller, statesTax: boolean): ReceiptSeller {
  const { name = '', address, npwp, registrations, contact = formatContact(service) } = seller;
  return { name, address, npwp: statesTax ? npwp : undefined, contact, registrations };
}

interface RefundRow {
  readonly key: string;
  readonly amount: number;
  readonly before: number; // amount of the same payment that was refunded earlier
  readonly content: ReceiptContent;
}

/** Tax and base are computed from the sum of all refunds so far, so that a payment refunded in parts leaves no remainder. */
export async function storeRefund(transaction: EntityManager, refundKey: string): Promise<void> {
  const [refund] = await transaction.execute<RefundRow[]>(
    `select r.key, r.amount::float8 as amount, p.content,
       (select coalesce(sum(b.amount), 0)::float8 from receipt b
         where b.order_id = p.order_id and b.payment_id = p.payment_id and b.kind = 'refund') as before
     from refund r join receipt p on p.payment_id = r.payment_id and p.kind = 'payment' where r.key = ?`,
    [refundKey],
  );
  if (refund === undefined) return;
  const { amount, before, content } = refund;
  const tax = content.tax && computeIncludedTax(before + amount, content.tax) - computeIncludedTax(before, content.tax);
  const taxBase = computeRefundTaxBase(before, before + amount, content);
  await transaction.execute(
    `insert into receipt (id, kind, payment_id, refund_key, order_id, account_id, code, made_at, currency, amount, tax, buyer, company, npwp,
       content, is_test)
     select ?, 'refund', r.payment_id, r.key, p.order_id, p.account_id, p.code, r.finished_at, r.currency, r.amount, ?::bigint, p.buyer,
       coalesce(p.added_company, p.company), case when p.added_at is null then p.npwp else p.added_npwp end, p.content || ?::jsonb, p.is_test
     from refund r join receipt p on p.payment_id = r.payment_id and p.kind = 'payment' where r.key = ?
     on conflict (refund_key) do nothing`,
    [randomUUIDv7(), tax ?? null, JSON.stringify({ taxBase }), refundKey],
  );
}

function computeRefundTaxBase(before: number, after: number, { tax, taxBase }: ReceiptContent): number | undefined {
  if (tax === undefined || taxBase === undefined) return undefined;
  return (computeTaxBase(after, tax) ?? 0) - (computeTaxBase(before, tax) ?? 0);
}
