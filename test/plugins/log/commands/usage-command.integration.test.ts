import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { addUnauthenticated } from '#core/gateway/records/unauthenticated.ts';
import type { Database } from '#core/platform/database/database.ts';
import { usageCommand } from '../../../../plugins/log/commands/usage-command.ts';
import { day, hour, RecordBook, today } from '../../../core/gateway/records/record-fixture.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { createCommandHost, runCommand } from './fixture.ts';

const now = today + 13 * hour;

let database: Database;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAccount(database, 'dp', { name: 'Ani', email: 'ani@example.com' }));
  const attempts = [
    {
      route: 'a/m',
      outcome: 'failed' as const,
      fault: 'route' as const,
      error: 'route: HTTP 503',
      started_ms: 0,
      duration_ms: 0,
    },
    { route: 'b/m', outcome: 'served' as const },
  ];
  const own = { account_id: accountId, model: 'dp/gpt-6-sol', route: 'b/m', started_at: now, attempts };
  await new RecordBook(database).write(
    { ...own, first_content_ms: 700, input_tokens: 1_000, has_failover: true },
    { ...own, started_at: now - 2 * day },
    { account_id: accountId, model: null, started_at: now, outcome: 'refused' },
    { model: 'dp/other', started_at: now - hour, outcome: 'failed' },
  );
});
afterAll(() => database[Symbol.asyncDispose]());

const command = usageCommand({ costsReader: undefined });
const gateway = (...words: string[]) => runCommand(command, createCommandHost(database, now), words);
const tableOf = async (...words: string[]) =>
  (await gateway(...words)).output.split('\n').map((line) => line.trim().replace(/ {2,}/g, '|'));

it('counts by model in the last 24 hours, and says what it covers', async () => {
  const table = await tableOf();
  expect(table[0]).toBe(
    'model|requests|errors|failed|failovers|cached|tokens in|from cache|to cache|tokens out|first token|95 % below',
  );
  expect(table.slice(1, 4).toSorted()).toEqual([
    '(no model)|1|1 (100%)|0|0|0|0|0',
    expect.stringMatching(/^dp\/gpt-6-sol\|1\|0 \(0%\)\|0\|1\|0\|1,000\|0%\|0%\|0\|0\.\d\d s\|0\.\d\d s$/),
    'dp/other|1|1 (100%)|1|0|0|0|0',
  ]);
  expect(table).toContain('since 2031-05-11 13:00:00 (UTC), by whole hours in UTC');
  expect(table.join()).not.toContain('no usage was recorded before');
});

it('counts clients over all accounts, and not within one', async () => {
  const table = await tableOf('--by', 'client');
  expect(table[0]).toMatch(/^client\|requests\|.*\|from cache\|to cache\|tokens out$/);
  expect(table.join()).toContain('client: the name that the program sends');
  const within = await gateway('--by', 'client', '--account', accountId);
  expect([within.exitCode, `${within.output}${within.error}`]).toEqual([
    2,
    expect.stringContaining('Leave out "account"'),
  ]);
});

it('names accounts, the most used first, and says that usage begins later', async () => {
  const table = await tableOf('--by', 'account', '--since', '30d');
  expect(table[1]).toMatch(new RegExp(String.raw`^${accountId}\|Ani <ani@example.com>\|3\|1 \(33\.3%\)\|`));
  expect(table).toContain('since 2031-05-10 13:00:00 (UTC), by whole hours in UTC; no usage was recorded before');
});

it('daypass usage shows tries and the last fault of routes, those that served nothing included', async () => {
  const table = await tableOf('--by', 'route', '--since', '7d');
  expect(table).toContainEqual(expect.stringMatching(/^b\/m\|2\|.*\|2\|0$/));
  expect(table).toContainEqual(expect.stringMatching(/^a\/m\|0\|.*\|2\|2\|2031-05-12 13:00:00 route: HTTP 503$/));
});

it('counts hours in their order, of an account and a model', async () => {
  const { output } = await gateway(
    '--by',
    'hour',
    '--since',
    '7d',
    '--account',
    'ani@example.com',
    '--model',
    'alias',
    '--json',
  );
  expect(JSON.parse(output)).toMatchObject({
    complete_since: '2031-05-10T13:00:00.000Z',
    usage: [
      { hour: '2031-05-10T13:00:00.000Z', requests: 1 },
      {
        hour: '2031-05-12T13:00:00.000Z',
        requests: 1,
        failovers: 1,
        input_tokens: 1_000,
        first_token_ms: { p50: 695 },
      },
    ],
  });
});

it('names who sends requests without an account, unless those cannot be meant', async () => {
  const [block, minute] = ['203.0.113.0/24', now - hour];
  await addUnauthenticated(database, [
    { minute, block, status: 429, requests: 6_133 },
    { minute, block, status: 401, requests: 64 },
    { minute, block: undefined, status: undefined, requests: 2 },
  ]);
  const line =
    'without an account since 2031-05-11 13:00:00 (UTC): 6,199, only a few of which have a record. Most from 203.0.113.0/24 (6,133 × 429, 64 × 401); other addresses (2 × client left)';
  expect((await gateway()).output.split('\n').at(-1)).toBe(line);
  expect((await gateway('--by', 'account')).output).toContain(line);
  expect((await gateway('--account', 'ani@example.com')).output).not.toContain('without an account');
  const { unauthenticated } = JSON.parse((await gateway('--json')).output) as { unauthenticated: object };
  expect(unauthenticated).toEqual({
    requests: 6_199,
    blocks: [
      {
        address_block: block,
        requests: 6_197,
        last_minute: '2031-05-12T12:00:00.000Z',
        statuses: [
          { status: 429, requests: 6_133 },
          { status: 401, requests: 64 },
        ],
      },
      {
        address_block: null,
        requests: 2,
        last_minute: '2031-05-12T12:00:00.000Z',
        statuses: [{ status: null, requests: 2 }],
      },
    ],
  });
});

it('daypass usage says so when there is nothing', async () => {
  expect((await gateway('--route', 'no/where')).output).toBe(
    'No requests since 2031-05-11 13:00:00 (UTC), by whole hours in UTC.',
  );
});

it.each(['key', 'plan'])('daypass usage refuses the unknown group %s', async (group) => {
  expect(await gateway('--by', group)).toMatchObject({ exitCode: 2, error: expect.stringContaining('choices') });
});
