import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { AccountQuota } from '../../../../../plugins/format/state/responses-store/recorder.ts';
import { ResponseRows } from '../../../../../plugins/format/state/responses-store/rows.ts';
import type { FaultyUpstream } from '../../../../support/faulty-upstream.ts';
import { responsesUpstream, startStore, type StoreGateway } from './fixture.ts';

const MiB = 1024 ** 2;
const begin = Date.UTC(2026, 0, 1);

let upstream: FaultyUpstream;
let gateway: StoreGateway;
let account: string;
let other: string;

beforeAll(async () => {
  upstream = await responsesUpstream();
  gateway = await startStore(upstream, { yaml: `responses: { max_account_bytes: ${MiB} }` });
});
beforeEach(async () => {
  account = await newAccount();
  other = await newAccount();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function newAccount(): Promise<string> {
  const period = { days: 1, reason: 'grant' } as const;
  return (await createAccount(gateway.database, 'dp', { name: 'Room', period })).accountId;
}

const rowOf = (accountId: string, hour: number, bytes: number) => ({
  accountId,
  id: `resp_${hour}`,
  input: `"${'x'.repeat(bytes - 4)}"`,
  response: '{}',
  itemIds: [],
  createdAt: begin + hour * 3_600_000,
  expiresAt: begin + 1e12,
});

/** Saves rows of one size, the oldest first, through one process. */
async function saveAll(hours: readonly number[], bytes: number, room = new AccountQuota()): Promise<void> {
  const rows = new ResponseRows(gateway.database);
  for (const hour of hours) await room.save(rows, rowOf(account, hour, bytes), MiB);
}

async function kept(accountId = account): Promise<string[]> {
  const sql = 'SELECT id FROM response_store WHERE account_id = ? ORDER BY created_at';
  return (await gateway.database.query<{ id: string }>(sql, [accountId])).map(({ id }) => id);
}

async function bytesKept(): Promise<number> {
  const sql =
    'SELECT sum(octet_length(input) + octet_length(response)) AS bytes FROM response_store WHERE account_id = ?';
  const [row] = await gateway.database.query<{ bytes: string }>(sql, [account]);
  return Number(row?.bytes);
}

describe('what is kept for an account', () => {
  it('stored responses stay while they fit the account’s limit', async () => {
    await saveAll([1, 2, 3], 0.3 * MiB);
    expect(await kept()).toEqual(['resp_1', 'resp_2', 'resp_3']);
  });

  it('the oldest responses are deleted when a new one does not fit', async () => {
    await saveAll([1, 2, 3, 4], 0.3 * MiB);
    expect(await kept()).toEqual(['resp_2', 'resp_3', 'resp_4']);
  });

  it('the newest response stays alone if it takes all the room', async () => {
    await saveAll([1, 2], 0.3 * MiB);
    await saveAll([3], MiB);
    expect(await kept()).toEqual(['resp_3']);
  });

  it('a response that is saved again counts once', async () => {
    await saveAll([1, 2, 3, 3, 3], 0.3 * MiB);
    expect(await kept()).toEqual(['resp_1', 'resp_2', 'resp_3']);
  });

  it('many small responses stay within the limit', async () => {
    const hours = Array.from({ length: 300 }, (_, index) => index);
    await saveAll(hours, 5_000);
    expect([await bytesKept(), (await kept()).at(-1)]).toEqual([expect.toSatisfy(isFull), 'resp_299']);
  });

  it('an account over a new limit is brought within it step by step', async () => {
    const rows = new ResponseRows(gateway.database);
    const hours = Array.from({ length: 250 }, (_, index) => index);
    await Promise.all(hours.map((hour) => rows.save(rowOf(account, hour, 10_000))));
    await saveAll([300, 301, 302], 1_000);
    expect([await bytesKept(), (await kept())[0]]).toEqual([expect.toSatisfy(isFull), 'resp_147']);
  });

  it('an old response that is still running stays, and others are deleted in its place', async () => {
    const rows = new ResponseRows(gateway.database);
    const hours = Array.from({ length: 250 }, (_, index) => index);
    await Promise.all(hours.map((hour) => rows.save(rowOf(account, hour, 10_000))));
    await rows.save({ ...rowOf(account, 0, 10_000), leaseMs: 60_000 });
    await saveAll([300, 301, 302], 1_000);
    expect([await bytesKept(), (await kept()).slice(0, 2)]).toEqual([expect.toSatisfy(isFull), ['resp_0', 'resp_147']]);
  });

  it('the limit holds when several processes save at once', async () => {
    const processes = Array.from({ length: 8 }, (_, index) => [index, index + 10, index + 20]);
    await Promise.all(processes.map((hours) => saveAll(hours, 0.1 * MiB)));
    await saveAll([40], 0.1 * MiB);
    expect(await bytesKept()).toBeLessThanOrEqual(MiB);
  });

  it('responses of one account are not deleted for another account', async () => {
    await new ResponseRows(gateway.database).save(rowOf(other, 0, 0.9 * MiB));
    await saveAll([1, 2, 3, 4], 0.3 * MiB);
    expect(await kept(other)).toEqual(['resp_0']);
  });

  it('the limit comes from gateway.yaml', async () => {
    const ids: string[] = [];
    for (let turn = 0; turn < 4; turn++) ids.push((await gateway.create({ input: 'x'.repeat(0.3 * MiB) })).id);
    const found = await Promise.all(ids.map((id) => gateway.call('GET', `/v1/responses/${id}`)));
    expect(found.map(({ status }) => status)).toEqual([404, 200, 200, 200]);
  });
});

/** At most the bound, and not much less. */
const isFull = (bytes: number) => bytes <= MiB && bytes > 0.95 * MiB;
