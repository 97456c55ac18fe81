import type { Queries } from '#core/platform/database/database.ts';
import { epoch, epochs, type Row, type RowOf, toRecord } from '#core/platform/database/rows.ts';
import type { PlanPeriodSchema } from './entities.ts';

/** An entry in the ledger of paid time, as written. */
export interface LedgerEntry {
  readonly id: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly days: number;
  readonly label: string | undefined;
  readonly reason: Row<typeof PlanPeriodSchema, 'reason'>['reason'];
  readonly note: string | undefined;
  /** The outage that the entry compensates: the model's public name, and when it was down. */
  readonly outageModel: string | undefined;
  readonly outageFromAt: Date | undefined;
  readonly outageUntilAt: Date | undefined;
  readonly orderId: string | undefined;
  readonly replaces: string | undefined; // id of the replaced entry
  readonly isInForce: boolean; // false if another entry has replaced it
  readonly createdAt: Date;
}

export function downtimeOf({ outageModel: model, outageFromAt: from, outageUntilAt: until }: LedgerEntry) {
  return model === undefined || from === undefined || until === undefined ? undefined : { model, from, until };
}

/** The `days` of an extension are those of the whole extended period. */
export function isExtension({ reason }: Pick<LedgerEntry, 'reason'>): boolean {
  return reason === 'outage';
}

/** Lists all ledger entries of an account, or of one of its orders, in the order in which they were written. */
export async function listLedger(database: Queries, accountId: string, orderId?: string): Promise<LedgerEntry[]> {
  const rows = await database.query<RowOf<LedgerEntry, typeof PlanPeriodSchema>>(
    `select p.id, p.days, p.label, p.reason, p.note, p.order_id, p.replaces, ${epochs('p.starts_at', 'p.ends_at', 'p.created_at')},
       not exists (select 1 from plan_period r where r.replaces = p.id) as is_in_force, o.model as outage_model,
       ${epoch('o.from_at')} as outage_from_at, ${epoch('o.until_at')} as outage_until_at
     from plan_period p left join outage_credit c on c.account_id = p.account_id and c.period_id = p.id
       left join outage o on o.id = c.outage_id
     where p.account_id = ? and (?::uuid is null or p.order_id = ?::uuid)
     order by p.created_at, p.starts_at, p.id`,
    [accountId, orderId ?? null, orderId ?? null],
  );
  return rows.map(toRecord);
}
