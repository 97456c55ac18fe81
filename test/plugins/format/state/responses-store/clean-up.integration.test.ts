import { expect, test } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { cleanUpResponses } from '../../../../../plugins/format/state/responses-store/clean-up.ts';
import { ResponseRows } from '../../../../../plugins/format/state/responses-store/rows.ts';
import { createUpstream } from '../../../../support/faulty-upstream.ts';
import { eventsBefore, responseBody, responsesUpstream, startStore } from './fixture.ts';

test('a background response that expired after its instance had stopped is deleted, and keeps no other from it', async () => {
  await using upstream = await responsesUpstream();
  await using gateway = await startStore(upstream);
  const { host } = gateway.gateway;
  const now = host.now();
  const period = { days: 1, reason: 'grant' } as const;
  const { accountId } = await createAccount(gateway.database, 'dp', { name: 'Away', period });
  const rows = new ResponseRows(gateway.database);
  const save = (id: string, expiresAt: number, leaseMs?: number) =>
    rows.save({
      accountId,
      id,
      input: '[]',
      response: '{}',
      itemIds: [],
      createdAt: now,
      expiresAt,
      ...(leaseMs && { leaseMs }),
    });
  await save('resp_gone', now - 1_000, -2_000);
  await save('resp_old', now - 1_000);
  await save('resp_abandoned', now + 60_000, -1_000);
  expect(await cleanUpResponses(host, 0)).toBe(2);
  const left = await gateway.database.query<{ id: string; status: string }>(
    `SELECT id, response::json->>'status' AS status FROM response_store WHERE account_id = ?`,
    [accountId],
  );
  expect(left).toEqual([{ id: 'resp_abandoned', status: 'failed' }]);
});

test('an instance whose clock is ahead deletes nothing before its time', async () => {
  await using upstream = await responsesUpstream();
  await using gateway = await startStore(upstream);
  const { host } = gateway.gateway;
  await gateway.create({ input: 'Hi.', background: true, stream: true });
  await expect
    .poll(() => gateway.database.query('SELECT FROM response_store WHERE running_until IS NULL'))
    .toHaveLength(1);
  const ahead = Object.create(host, { now: { value: () => host.now() + 30 * 86_400_000 } }) as typeof host;
  expect(await cleanUpResponses(ahead, 3_600_000)).toBe(0);
  expect(
    await gateway.database.query('SELECT FROM response_store JOIN response_event ON response_id = id'),
  ).not.toEqual([]);
});

test.each([false, true])(
  'an answer that comes after its account was deleted is not stored, stream: %s',
  async (stream) => {
    const gate = Promise.withResolvers<void>();
    await using upstream = await createUpstream(async (_request, response) => {
      await gate.promise;
      if (!stream) return response.json(200, responseBody(1));
      response.sse(...eventsBefore(1), { type: 'response.completed', sequence_number: 5, response: responseBody(1) });
    });
    await using gateway = await startStore(upstream);
    const answered = gateway.create({ input: 'My name is Ani.', stream });
    await upstream.waitForRequest(1);
    await deleteAccount(gateway.database, gateway.accountId);
    gate.resolve();
    expect((await answered).status).toBe('completed');
    expect(await gateway.database.query('SELECT FROM response_store')).toEqual([]);
  },
);

test('the events of a long response are deleted together, so that none of its streams lacks the first ones', async () => {
  await using upstream = await responsesUpstream();
  await using gateway = await startStore(upstream);
  const { host } = gateway.gateway;
  await gateway.create({ input: 'Hi.', background: true, stream: true });
  const running = () => gateway.database.query('SELECT FROM response_store WHERE running_until IS NOT NULL');
  await expect.poll(running).toEqual([]);
  const age = (sql: string) => gateway.database.query(`UPDATE response_event SET created_at = ${sql}`);
  await gateway.database.query(
    `INSERT INTO response_event SELECT account_id, response_id, 1000, '', created_at FROM response_event`,
  );
  const count = async () => (await gateway.database.query('SELECT FROM response_event')).length;
  await age(`now() - CASE last_sequence WHEN 1000 THEN interval '0' ELSE interval '2 hours' END`);
  await cleanUpResponses(host, 3_600_000);
  expect(await count()).toBe(2);
  await age(`now() - interval '2 hours'`);
  await cleanUpResponses(host, 3_600_000);
  expect(await count()).toBe(0);
});
