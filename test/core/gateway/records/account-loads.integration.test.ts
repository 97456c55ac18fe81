import { afterAll, beforeAll, expect, it } from 'vitest';
import { foldUsage } from '#core/gateway/records/fold-usage.ts';
import { listHeaviestAccounts } from '#core/gateway/records/heaviest-accounts.ts';
import { readKeyUse } from '#core/gateway/records/key-use.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { day, RecordBook, today } from './record-fixture.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

it('accounts are ranked by requests, tokens and failures of a span, folded or not', async () => {
  const [many, long, failing] = [new RecordBook(database), new RecordBook(database), new RecordBook(database)];
  await many.write({}, {}, {}, { started_at: today - day });
  await long.write({ input_tokens: 900, output_tokens: 100 });
  await foldUsage(database);
  await failing.write({ outcome: 'failed', status: 502 }, { outcome: 'interrupted', status: null });
  const { requests, tokens, failed } = await listHeaviestAccounts(database, { since: today, limit: 2 });
  expect(requests.map(({ accountId }) => accountId)).toEqual([many.accountId, failing.accountId]);
  expect(requests[0]).toMatchObject({ requests: 3, failed: 0, share: 0.5 });
  expect(tokens).toMatchObject([{ accountId: long.accountId, inputTokens: 900, outputTokens: 100 }]);
  expect(failed).toMatchObject([{ accountId: failing.accountId, failed: 2, requests: 2 }]);
});

it('accounts are ranked by refusals for policy, without those that have none', async () => {
  const [one, two, none] = [new RecordBook(database), new RecordBook(database), new RecordBook(database)];
  const later = today + 30 * day;
  const refused = { started_at: later, is_policy_refusal: true, outcome: 'refused', status: 400 } as const;
  await one.write(refused, { started_at: later });
  await two.write(refused, refused);
  await none.write({ started_at: later });
  const { policy } = await listHeaviestAccounts(database, { since: later, limit: 5 });
  expect(policy.map(({ accountId, policyRefusals }) => [accountId, policyRefusals])).toEqual([
    [two.accountId, 2],
    [one.accountId, 1],
  ]);
});

/** A request so many ms into the day. */
function call(at: number, took: number, address: string, client: string) {
  return { started_at: today + at, duration_ms: took, remote_address: address, user_agent: client };
}

it('counts addresses, clients and the most requests at once of an account', async () => {
  const book = new RecordBook(database);
  await book.write(
    call(0, 1_000, '192.0.2.1', 'claude-cli/2.0.1 (external, cli)'),
    call(500, 1_000, '192.0.2.1', 'claude-cli/2.0.2 (external, cli)'),
    // Begins when the second one ends.
    call(1_500, 1_000, '192.0.2.2', 'curl/8.7.1'),
    call(-day, 1_000, '192.0.2.3', 'old/1.0'),
    { ...call(600, 1_000, '192.0.2.4', 'lists/1.0'), is_metered: false },
  );
  const idle = crypto.randomUUID();
  const use = await readKeyUse(database, [book.accountId, idle], today - 1);
  expect(use.get(book.accountId)).toEqual({
    addresses: 2,
    clients: 3,
    programs: ['claude-cli', 'curl'],
    atOnce: 2,
    requests: 3,
  });
  expect(use.has(idle)).toBe(false);
  expect(await readKeyUse(database, [], today)).toEqual(new Map());
});
