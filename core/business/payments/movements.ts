import type { Queries } from '#core/platform/database/database.ts';
import { epoch, type Row, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import type { Payment } from './entities.ts';
import type { OrderFilter } from './order.ts';
import type { TimeSpan } from './payment-provider.ts';

/** A payment or refund, for bookkeeping. */
export interface Movement {
  readonly kind: 'payment' | 'refund';
  readonly at: Date; // when the payment arrived, or the refund was confirmed
  readonly order: string; // its code
  readonly orderState: string;
  readonly accountId: string;
  readonly days: number;
  readonly label: string | undefined;
  readonly isGift: boolean; // the days go to the account that redeems the gift, not to the buyer
  readonly amount: number; // in the smallest unit in which the currency is priced; negative for refunds
  readonly currency: string;
  readonly fee: number | undefined; // the provider's, if known
  readonly provider: string;
  readonly reference: string; // ours, for the charge or refund at the provider
  readonly paymentId: string | undefined; // the provider's
  readonly issuer: string | undefined;
  readonly outcome: string; // a payment's outcome; for a refund, `provider` or `manual`
  readonly isFlagged: boolean;
  readonly isReconciled: boolean; // the provider's books contain it too
}

export async function readLastMovement(database: Queries): Promise<Date | undefined> {
  const [row] = await database.query<{ at: number | null }>(
    `select ${epoch(`greatest((select max(paid_at) from payment), (select max(finished_at) from refund where state = 'done'))`)} as at`,
  );
  return row?.at == null ? undefined : new Date(row.at);
}

/** The columns of an exported movement, in order. Add new columns at the end. */
export const movementColumns: Readonly<
  Record<string, (movement: Movement, day: string, clock: string) => string | number | undefined>
> = {
  day: (_movement, day) => day,
  time: (_movement, _day, clock) => clock,
  kind: ({ kind }) => kind,
  order: ({ order }) => order,
  amount: ({ amount }) => amount,
  currency: ({ currency }) => currency,
  days: ({ days }) => days,
  label: ({ label }) => label,
  account: ({ accountId }) => accountId,
  provider: ({ provider }) => provider,
  reference: ({ reference }) => reference,
  payment_id: ({ paymentId }) => paymentId,
  issuer: ({ issuer }) => issuer,
  outcome: ({ outcome }) => outcome,
  order_state: ({ orderState }) => orderState,
  flagged: ({ isFlagged }) => (isFlagged ? 'yes' : 'no'),
  fee: ({ fee }) => fee,
  net: ({ amount, fee }) => amount - (fee ?? 0),
  reconciled: ({ isReconciled }) => (isReconciled ? 'yes' : 'no'),
  gift: ({ isGift }) => (isGift ? 'yes' : 'no'),
  at: ({ at }) => at.toISOString(),
};

const pageSize = 2_000; // large, because every page sorts all rows that match the filter

type MovementRow = RowOf<Omit<Movement, 'at'>, typeof Payment> &
  Row<typeof Payment, 'id'> & { readonly at_text: string; readonly at: number };

/** Lists payments and finished refunds, oldest first. `since` and `until` apply to the movement, not to its order. */
export async function* listMovements(database: Queries, filter: OrderFilter): AsyncGenerator<Movement> {
  let cursor: Pick<MovementRow, 'at_text' | 'id'> | undefined;
  for (;;) {
    const rows = await readPage(database, filter, cursor);
    for (const row of rows) yield toMovement(row);
    cursor = rows.at(-1);
    if (cursor === undefined || rows.length < pageSize) return;
  }
}

const movementsSubquery = `(
  select 'payment' as kind, p.id::text as id, p.paid_at as at, p.order_id, p.amount, p.currency, p.provider, p.reference,
    p.payment_id, p.issuer, p.outcome, p.fee, p.reconciled_at
  from payment p
  union all
  select 'refund', r.key, coalesce(r.finished_at, r.created_at), r.order_id, -r.amount, r.currency, p.provider, r.key,
    p.payment_id, p.issuer, case when r.is_manual then 'manual' else 'provider' end, null, r.reconciled_at
  from refund r join payment p on p.id = r.payment_id
  where r.state = 'done'
)`;

async function readPage(
  database: Queries,
  { accountId, state, since, until, isFlagged }: OrderFilter,
  cursor: Pick<MovementRow, 'at_text' | 'id'> | undefined,
): Promise<MovementRow[]> {
  const parameters = [
    since?.getTime(),
    since?.getTime(),
    until?.getTime(),
    until?.getTime(),
    accountId,
    accountId,
    state,
    state,
    isFlagged,
    isFlagged,
    cursor?.at_text,
    cursor?.at_text,
    cursor?.id,
    pageSize,
  ];
  return database.query<MovementRow>(
    `select id, at::text as at_text, ${epoch('at')} as at, kind, code as "order", state as order_state, account_id, days, label,
       is_gift, amount::float8 as amount, currency, fee::float8 as fee, provider, reference, payment_id, issuer, outcome, is_flagged, is_reconciled
     from (
       select m.*, m.reconciled_at is not null as is_reconciled, o.code, o.state, o.account_id, o.days, o.label, o.is_gift,
         exists (select 1 from order_flag f where f.order_id = o.id and f.resolved_at is null) as is_flagged
       from ${movementsSubquery} m join plan_order o on o.id = m.order_id
     ) m
     where (?::float8 is null or at >= to_timestamp(?::float8 / 1000)) and (?::float8 is null or at < to_timestamp(?::float8 / 1000))
       and (?::text is null or account_id::text = ?) and (?::text is null or state = ?)
       and (?::boolean is null or is_flagged = ?)
       and (?::text is null or (at, id) > (?::timestamptz, ?::text))
     order by m.at, id limit ?`,
    parameters.map((value) => value ?? null),
  );
}

/** Totals of one provider's recorded movements in a time range, without manual refunds. */
export interface ProviderSums {
  readonly provider: string;
  readonly currency: string;
  readonly payments: number;
  readonly gross: number;
  readonly refunds: number;
  readonly refunded: number;
  readonly fees: number; // sum of the known fees
  readonly found: number; // movements that are also in the provider's books
}

export async function sumMovements(database: Queries, { since, until }: TimeSpan): Promise<ProviderSums[]> {
  return database.query<ProviderSums>(
    `select provider, currency, count(*) filter (where kind = 'payment')::int as payments,
       coalesce(sum(amount) filter (where kind = 'payment'), 0)::float8 as gross,
       count(*) filter (where kind = 'refund')::int as refunds,
       coalesce(sum(-amount) filter (where kind = 'refund'), 0)::float8 as refunded,
       coalesce(sum(fee), 0)::float8 as fees, count(reconciled_at)::int as found
     from ${movementsSubquery} m
     where at >= to_timestamp(?::float8 / 1000) and at < to_timestamp(?::float8 / 1000) and outcome <> 'manual'
     group by provider, currency order by provider, currency`,
    [since.getTime(), until.getTime()],
  );
}

function toMovement({ id: _id, at_text: _text, at, ...row }: MovementRow): Movement {
  return { ...toRecord(row), at: new Date(at) };
}
