import { randomUUID } from 'node:crypto';
import { type Database, defineEntity, type Host, p, personal, recordEvent } from 'daypass';

declare module 'daypass' {
  interface EventTypes {
    /** A report about an account was closed. The account's owner gets a mail. */
    'report.closed': { readonly accountId: string; readonly reportId: string };
    'report.waiting': { readonly day: string; readonly since: string };
  }
}

export const Report = defineEntity({
  name: 'Report',
  tableName: 'reports',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    text: personal(p.text()),
    answer: personal(p.text().nullable()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    closedAt: p.datetime().nullable(),
  },
});

export type ListedReport = Awaited<ReturnType<typeof listReports>>[number];

/** Lists reports, optionally only those in one state, newest first. */
export async function listReports(database: Database, state: 'open' | 'closed' | undefined, limit: number) {
  const where = state === undefined ? {} : { closedAt: state === 'open' ? null : { $ne: null } };
  return database.fork().find(Report, where, { orderBy: { createdAt: 'desc' }, limit });
}

export async function findReport(database: Database, id: string): Promise<ListedReport | undefined> {
  const isId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id);
  return isId ? ((await database.fork().findOne(Report, { id })) ?? undefined) : undefined;
}

export async function addReport({ database }: Host, accountId: string, text: string): Promise<string> {
  const id = randomUUID();
  await database.query('insert into reports (id, account_id, text) values (?, ?, ?)', [id, accountId, text]);
  return id;
}

/** Returns false if the report is already closed. */
export async function closeReport({ database }: Host, id: string, answer: string): Promise<boolean> {
  return database.fork().transactional(async (transaction) => {
    const [row] = await transaction.execute<{ account_id: string }[]>(
      'update reports set closed_at = clock_timestamp(), answer = ? where id = ? and closed_at is null returning account_id',
      [answer, id],
    );
    if (row === undefined) return false;
    const payload = { accountId: row.account_id, reportId: id };
    await recordEvent(transaction, 'report.closed', payload, `report.closed:${id}`);
    return true;
  });
}
