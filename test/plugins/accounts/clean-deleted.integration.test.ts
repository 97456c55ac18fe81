import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import type { Database } from '#core/platform/database/database.ts';
import { cleanDeletedJob } from '../../../plugins/accounts/jobs.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.query('create table request_log_p partition of request_log default');
  await database.query('create table request_content_p partition of request_content default');
});
afterAll(() => database[Symbol.asyncDispose]());

/** Records so many requests of an account, with their content. */
async function addRequests(accountId: string, count: number): Promise<void> {
  await database.query(
    `insert into request_log (id, started_at, instance, account_id, endpoint, method, path, outcome, remote_address, user_agent)
     select ?::text || n, '2026-11-22', 'test', ?, 'chat', 'POST', '/v1/chat/completions', 'answered', '203.0.113.9', 'curl'
     from generate_series(1, ?) n`,
    [accountId, accountId, count],
  );
  await database.query(
    `insert into request_content (id, started_at, part, is_cut, body)
     select id, started_at, 'request', false, 'diary' from request_log where account_id = ?`,
    [accountId],
  );
}

async function personalOf(accountId: string): Promise<{ contents: number; addresses: number; records: number }> {
  const [row] = await database.query<{ contents: number; addresses: number; records: number }>(
    `select count(c.id)::int as contents, count(l.remote_address)::int as addresses, count(*)::int as records
     from request_log l left join request_content c using (started_at, id) where l.account_id = ?`,
    [accountId],
  );
  return row ?? { contents: -1, addresses: -1, records: -1 };
}

it('the job of deleted accounts removes what later records say about the person, in batches, and nothing of others', async () => {
  const deleted = await createAccount(database, 'dp', { name: 'Ani' });
  const other = await createAccount(database, 'dp', { name: 'Budi' });
  await deleteAccount(database, deleted.accountId);
  await addRequests(deleted.accountId, 1_200);
  await addRequests(other.accountId, 3);
  await using host = createTestHost({ database });
  await cleanDeletedJob.run({}, host);
  expect(await personalOf(deleted.accountId)).toEqual({ contents: 0, addresses: 0, records: 1_200 });
  expect(await personalOf(other.accountId)).toEqual({ contents: 3, addresses: 3, records: 3 });
});
