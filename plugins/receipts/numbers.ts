import type { Host, JobDefinition } from '#core/gateway/host/host.ts';
import { wakeJob } from '#core/gateway/host/wake-job.ts';
import type { Transactions } from '#core/platform/database/database.ts';

const batchSize = 1_000;
const intervalSeconds = 15; // apart from the runs that payments trigger

const numberJobName = 'number-receipts';

/**
 * Numbers all receipts that have no number yet: payments in the order in which they were paid, then refunds whose payment has a number.
 * Each batch is a transaction that locks the series, so several instances may run this concurrently, and a crash at any point neither
 * duplicates nor skips a number.
 */
export async function numberReceipts(database: Transactions): Promise<void> {
  for (;;) {
    const payments = await numberBatch(database, 'payment');
    const refunds = await numberBatch(database, 'refund');
    if (payments < batchSize && refunds < batchSize) return;
  }
}

const waitingConditions = {
  payment: `r.kind = 'payment'`,
  refund: `r.kind = 'refund' and exists (
    select from receipt p where p.payment_id = r.payment_id and p.kind = 'payment' and p.number is not null)`,
} as const;

async function numberBatch(database: Transactions, kind: keyof typeof waitingConditions): Promise<number> {
  return database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1 from receipt_series where kind = ? for update', [kind]);
    // A separate statement after the lock, so that it sees numbers that other instances have assigned.
    const numbered = await transaction.execute<unknown[]>(
      `with waiting as (
         select r.id, row_number() over (order by r.made_at, r.created_at, r.id) as place
         from receipt r where r.number is null and not r.is_test and ${waitingConditions[kind]}
         order by r.made_at, r.created_at, r.id limit ${batchSize}
       )
       update receipt r set number = s.last + w.place, numbered_at = clock_timestamp()
       from waiting w, receipt_series s where r.id = w.id and s.kind = ? returning r.id`,
      [kind],
    );
    if (numbered.length > 0)
      await transaction.execute('update receipt_series set last = last + ? where kind = ?', [numbered.length, kind]);
    return numbered.length;
  });
}

/** The job runs at most once per second, however many payments there are. */
export async function wakeNumbering(host: Pick<Host, 'jobs' | 'monotonic'>): Promise<void> {
  await wakeJob(host, numberJobName);
}

export const numberJob: JobDefinition = {
  name: numberJobName,
  description: 'Assigns sequential numbers to receipts of payments and refunds.',
  schedule: { every: intervalSeconds },
  attempts: 1,
  async run(_data, { database }) {
    const [waiting] = await database.query('select 1 from receipt where number is null and not is_test limit 1');
    if (waiting !== undefined) await numberReceipts(database);
  },
};
