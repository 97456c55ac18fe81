import type { Database } from '#core/platform/database/database.ts';
import type { FlagKind } from './order-types.ts';
import { epochs, type Row } from '#core/platform/database/rows.ts';
import type { OrderFlag, PlanOrder } from './entities.ts';

/** An unresolved flag, with the data that the operator needs to decide. */
export interface OpenFlag {
  readonly id: string;
  readonly kind: FlagKind;
  readonly subject: string;
  readonly createdAt: Date;
  readonly orderId: string;
  readonly orderCode: string;
  readonly accountId: string;
  /** E-mail address of the buyer, or the name of a buyer without one. */
  readonly buyer: string;
  readonly days: number;
  readonly price: number;
  readonly currency: string;
  /** The payment or refund that it is about, where it is one on record. */
  readonly money: { readonly amount: number; readonly currency: string } | undefined;
}

/** Missing or wrong payments are more urgent than duplicate ones. */
const severities: Readonly<Record<FlagKind, 'bad' | 'warn'>> = {
  wrong_amount: 'bad',
  wrong_currency: 'bad',
  disputed: 'bad',
  refund_failed: 'bad',
  reversed: 'bad',
  second_payment: 'warn',
  wrong_reference: 'warn',
  deleted_account: 'warn',
};

export function severityOf(kind: FlagKind): 'bad' | 'warn' {
  return severities[kind];
}

const worst = Object.entries(severities).flatMap(([kind, severity]) => (severity === 'bad' ? [kind] : []));

const select = `
  select f.id, f.kind, f.subject, ${epochs('f.created_at')}, f.order_id,
    o.code, o.account_id, coalesce(a.email, a.name) as buyer, o.days, o.price::float8 as price, o.currency,
    coalesce(p.amount, r.amount)::float8 as amount, coalesce(nullif(p.currency, ''), r.currency) as money_currency
  from order_flag f join plan_order o on o.id = f.order_id join account a on a.id = o.account_id
    left join payment p on p.order_id = f.order_id and p.payment_id = f.subject
    left join refund r on r.key = f.subject`;

type FlagRow = Row<typeof OrderFlag, 'id' | 'kind' | 'subject' | 'created_at' | 'order_id'> &
  Row<typeof PlanOrder, 'code' | 'account_id' | 'days' | 'price' | 'currency'> & {
    readonly buyer: string;
    readonly amount: number | null;
    readonly money_currency: string | null;
  };

/** Unresolved flags, most urgent first, then oldest, and their number. */
export async function listOpenFlags(
  database: Pick<Database, 'query'>,
  limit: number,
): Promise<{ readonly flags: readonly OpenFlag[]; readonly total: number }> {
  const rows = await database.query<FlagRow & { total: number }>(
    `select *, count(*) over ()::float8 as total from (${select} where f.resolved_at is null) x
     order by kind in (?) desc, created_at, id limit ?`,
    [worst, limit],
  );
  return { flags: rows.map(toFlag), total: rows[0]?.total ?? 0 };
}

/** One unresolved flag. */
export async function findOpenFlag(database: Pick<Database, 'query'>, id: string): Promise<OpenFlag | undefined> {
  const [row] = await database.query<FlagRow>(`${select} where f.resolved_at is null and f.id::text = ?`, [id]);
  return row && toFlag(row);
}

function toFlag(row: FlagRow): OpenFlag {
  const { amount, money_currency: currency } = row;
  return {
    id: row.id,
    kind: row.kind,
    subject: row.subject,
    createdAt: new Date(row.created_at),
    orderId: row.order_id,
    orderCode: row.code,
    accountId: row.account_id,
    buyer: row.buyer,
    days: row.days,
    price: row.price,
    currency: row.currency,
    money: amount === null ? undefined : { amount, currency: currency ?? row.currency },
  };
}
