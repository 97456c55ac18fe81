import { randomUUID } from 'node:crypto';
import type { StatedMovement, TimeSpan } from '#core/business/payments/payment-provider.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type Row, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import type { SandboxCharge as Charge, SandboxRefund as RefundEntity } from './entities.ts';

export interface SandboxCharge {
  readonly reference: string;
  readonly providerReference: string;
  readonly amount: number;
  readonly currency: string;
  readonly qr: string;
  readonly state: 'pending' | 'paid' | 'expired' | 'failed';
  readonly expiresAt: Date;
  readonly notificationUrl: string;
  readonly paidAmount: number | undefined;
  readonly paymentId: string | undefined;
  readonly paidAt: Date | undefined;
  readonly refunds: readonly SandboxRefund[];
}

export interface SandboxRefund {
  readonly key: string;
  readonly amount: number;
}

type ChargeRow = RowOf<SandboxCharge, typeof Charge>;

/** An overdue charge counts as expired even before its row is updated. */
const columns = `reference, provider_reference, amount::float8 as amount, currency, qr, notification_url,
  paid_amount::float8 as paid_amount, payment_id, ${epochs('expires_at', 'paid_at')},
  case when state = 'pending' and expires_at <= clock_timestamp() then 'expired' else state end as state,
  (select coalesce(json_agg(json_build_object('key', r.key, 'amount', r.amount) order by r.created_at, r.key), '[]')
    from payments_sandbox_refund r where r.reference = c.reference) as refunds`;

export async function addCharge(
  database: Queries,
  charge: Pick<SandboxCharge, 'reference' | 'amount' | 'currency' | 'qr' | 'expiresAt' | 'notificationUrl'>,
): Promise<void> {
  await database.query(
    `insert into payments_sandbox_charge (reference, provider_reference, amount, currency, qr, expires_at, notification_url)
     values (?, ?, ?, ?, ?, ?, ?) on conflict (reference) do nothing`,
    [
      charge.reference,
      `SANDBOX-${randomUUID()}`,
      charge.amount,
      charge.currency,
      charge.qr,
      charge.expiresAt.toISOString(),
      charge.notificationUrl,
    ],
  );
}

export async function readCharge(database: Queries, reference: string): Promise<SandboxCharge | undefined> {
  const [row] = await database.query<ChargeRow>(
    `select ${columns} from payments_sandbox_charge c where reference = ?`,
    [reference],
  );
  return row && toRecord(row);
}

/** Finds a charge by its reference, or an order's newest charge by the order code. */
export async function findCharge(database: Queries, name: string): Promise<SandboxCharge | undefined> {
  const [row] = await database.query<ChargeRow>(
    `select ${columns} from payments_sandbox_charge c where reference = ? or starts_with(reference, ?)
     order by created_at desc, reference desc limit 1`,
    [name, `${name}.`],
  );
  return row && toRecord(row);
}

/** Pays once, whatever the state: as with a real provider, payments may arrive late. */
export async function payCharge(database: Queries, reference: string, amount: number): Promise<void> {
  await database.query(
    `update payments_sandbox_charge
     set state = 'paid', paid_amount = ?, payment_id = ?, paid_at = clock_timestamp()
     where reference = ? and state <> 'paid'`,
    [amount, randomUUID(), reference],
  );
}

export async function endCharge(database: Queries, reference: string, state: 'expired' | 'failed'): Promise<void> {
  await database.query(`update payments_sandbox_charge set state = ? where reference = ? and state = 'pending'`, [
    state,
    reference,
  ]);
}

/** Refunds once per key. Returns false if the refunds would exceed the paid amount. */
export async function addRefund(database: Queries, reference: string, key: string, amount: number): Promise<boolean> {
  const rows = await database.query<Row<typeof RefundEntity, 'key'>>(
    `insert into payments_sandbox_refund (key, reference, amount)
     select ?, c.reference, ? from payments_sandbox_charge c
     where c.reference = ? and c.state = 'paid'
       and ? + (select coalesce(sum(amount), 0) from payments_sandbox_refund where reference = c.reference) <= c.paid_amount
     on conflict (key) do nothing returning key`,
    [key, amount, reference, amount],
  );
  return rows.length > 0 || (await hasRefund(database, key));
}

interface MoneyRow extends Omit<StatedMovement, 'at' | 'key'> {
  readonly key: string | null;
  readonly at: number; // epoch ms
}

export async function listMovements(database: Queries, { since, until }: TimeSpan): Promise<StatedMovement[]> {
  const rows = await database.query<MoneyRow>(
    `select m.*, m.amount::float8 as amount, ${epochs('at')} from (
       select 'payment' as kind, payment_id as id, reference, null as key, paid_amount as amount, currency, paid_at as at
       from payments_sandbox_charge where state = 'paid'
       union all
       select 'refund', r.key, r.reference, r.key, r.amount, c.currency, r.created_at
       from payments_sandbox_refund r join payments_sandbox_charge c on c.reference = r.reference
     ) m where at >= to_timestamp(?::float8 / 1000) and at < to_timestamp(?::float8 / 1000) order by m.at, id`,
    [since.getTime(), until.getTime()],
  );
  return rows.map(({ key, at, ...row }) => ({ ...row, key: key ?? undefined, at: new Date(at) }));
}

export async function hasRefund(database: Queries, key: string): Promise<boolean> {
  return (await database.query('select 1 from payments_sandbox_refund where key = ?', [key])).length > 0;
}
