import { expect, test } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { cleanUp } from '../../../../../plugins/format/state/responses-store/find-response.ts';
import { ResponseRows } from '../../../../../plugins/format/state/responses-store/rows.ts';
import { responsesUpstream, startStore } from './fixture.ts';

test('a background response that expired after its instance had stopped is deleted, and keeps no other from it', async () => {
  await using upstream = await responsesUpstream();
  await using gateway = await startStore(upstream);
  const { host } = gateway.gateway;
  const now = host.now();
  const period = { days: 1, reason: 'grant' } as const;
  const { accountId } = await createAccount(gateway.database, 'dp', { name: 'Away', period });
  const rows = new ResponseRows(gateway.database);
  const save = (id: string, expiresAt: number, runningUntil?: number) =>
    rows.save({
      accountId,
      id,
      input: '[]',
      response: '{}',
      itemIds: [],
      createdAt: now,
      expiresAt,
      ...(runningUntil && { runningUntil }),
    });
  await save('resp_gone', now - 1_000, now - 2_000);
  await save('resp_old', now - 1_000);
  await save('resp_abandoned', now + 60_000, now - 1_000);
  expect(await cleanUp(host, 0)).toBe(2);
  const left = await gateway.database.query<{ id: string; status: string }>(
    `SELECT id, response::json->>'status' AS status FROM response_store WHERE account_id = ?`,
    [accountId],
  );
  expect(left).toEqual([{ id: 'resp_abandoned', status: 'failed' }]);
});
