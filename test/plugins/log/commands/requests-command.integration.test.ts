import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import { addUnauthenticated, removeUnauthenticated } from '#core/gateway/records/unauthenticated.ts';
import type { Database } from '#core/platform/database/database.ts';
import { requestsCommand } from '../../../../plugins/log/commands/requests-command.ts';
import { RecordBook, today } from '../../../core/gateway/records/record-fixture.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { createCommandHost, runCommand } from './fixture.ts';

const now = today + 13 * 3_600_000;
const at = now - 60_000;

let database: Database;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createAccount(database, 'dp', { name: 'Ani', email: 'ani@example.com' }));
});
afterAll(() => database[Symbol.asyncDispose]());

const gateway = (...words: string[]) => runCommand(requestsCommand, createCommandHost(database, now), words);
const write = (...records: Partial<RequestRecord>[]) =>
  new RecordBook(database).write(...records.map((record) => ({ started_at: at, ...record })));

async function idsOf(...words: string[]): Promise<string[]> {
  const { output, error, exitCode } = await gateway(...words, '--json');
  expect([exitCode, error]).toEqual([0, '']);
  return (JSON.parse(output) as { requests: { id: string }[] }).requests.map(({ id }) => id);
}

describe('daypass requests', () => {
  it('names who sends requests without an account, below the list', async () => {
    await removeUnauthenticated(database, now);
    await addUnauthenticated(database, [{ minute: at, block: '2001:db8:1:2::/64', status: 401, requests: 12 }]);
    const text = 'without an account since 2031-05-11 13:00:00 (UTC): 12, only a few of which have a record.';
    expect((await gateway()).output).toContain(`${text} Most from 2001:db8:1:2::/64 (12 × 401)`);
    expect((await gateway('--account', accountId, '--status', '418')).output).toBe('No request found.');
  });

  it('prints a table with status, route, tries, times and tokens, the newest first', async () => {
    const model = 'dp/table';
    await write(
      { model, started_at: at - 1, outcome: 'refused', status: 429 },
      {
        model,
        route: 'b/m',
        attempts: [{ route: 'a/m' }, { route: 'b/m' }],
        has_failover: true,
        first_content_ms: 710,
        duration_ms: 64_000,
        input_tokens: 1_284,
        output_tokens: 7,
        usage_estimated: true,
      },
      { model, started_at: at - 2, outcome: 'aborted', status: null },
      { model, started_at: at - 3, cache: 'hit' },
    );
    const { output } = await gateway('--model', model);
    expect(output.split('\n').map((line) => line.replace(/ +req_\w+$/, '').replace(/ {2,}/g, '|'))).toEqual([
      'time (UTC)|status|model|route|tries|first token|total|in|out|key|request',
      '2031-05-12 12:59:00|200|dp/table|b/m|2|0.71 s|1 min 4 s|~1,284|~7',
      '2031-05-12 12:58:59|429 refused|dp/table',
      '2031-05-12 12:58:59|client left|dp/table',
      '2031-05-12 12:58:59|200|dp/table|cache',
    ]);
  });

  it('selects by account, any name of a model, route, status, failover and time', async () => {
    const budi = await createAccount(database, 'dp', { name: 'Budi', email: 'budi@example.com' });
    const [own] = await write({ account_id: budi.accountId });
    const [alias] = await write({ model: 'alias', alias_of: 'dp/gpt-6-sol' });
    const [routed] = await write({ route: 'only/here' });
    const [teapot] = await write({ status: 418, outcome: 'refused' });
    const [interrupted] = await write({ outcome: 'interrupted', status: null });
    const [old] = await write({ started_at: now - 25 * 3_600_000, route: 'only/here' });
    const [moved] = await write({ has_failover: true });
    const [hit] = await write({ cache: 'hit', endpoint: 'cached' });
    expect(await idsOf('--account', 'budi@example.com')).toEqual([own]);
    expect(await idsOf('--model', 'gpt-6-sol')).toEqual([alias]);
    expect(await idsOf('--model', 'alias')).toEqual([alias]);
    expect(await idsOf('--route', 'only/here')).toEqual([routed]);
    expect(await idsOf('--route', 'only/here', '--since', '2031-05-11')).toEqual([routed, old]);
    expect(await idsOf('--status', '418')).toEqual([teapot]);
    expect(await idsOf('--status', 'error')).toEqual(expect.arrayContaining([teapot, interrupted]));
    expect(await idsOf('--status', 'interrupted')).toEqual([interrupted]);
    expect(await idsOf('--failover')).toContain(moved);
    expect(await idsOf('--cached')).toContain(hit);
  });

  it('continues behind the last request', async () => {
    const model = 'dp/paged';
    const ids = await write(...[1, 2, 3].map((offset) => ({ model, started_at: at + offset })));
    const { output } = await gateway('--model', model, '--limit', '2', '--json');
    const { next } = JSON.parse(output) as { next: string };
    expect(await idsOf('--model', model, '--before', next)).toEqual([ids[0]]);
  });

  it('says so when nothing matches', async () => {
    expect(await gateway('--route', 'no/where')).toMatchObject({ exitCode: 0, output: 'No request found.' });
  });

  it.each([
    [2, ['--status', '600'], 'It must be a status such as 429'],
    [2, ['--since', 'yesterday'], 'It must be a time, for example 30m'],
    [2, ['--since', '2026-02-30'], 'It must be a time'],
    [2, ['--limit', '1001'], 'from 1 to 1000'],
    [2, ['--before', 'last'], 'It must be a request id'],
    [2, ['--follow', '--before', createRequestId(1)], 'omit --before'],
    [2, ['nonsense'], 'too many arguments'],
    [2, ['show', 'nonsense'], 'It must be a request id'],
    [3, ['--model', 'aliax'], 'Model "aliax" not found. Did you mean "alias"?'],
    [3, ['--model', 'other'], 'Model "other" not found.'],
    [3, ['--account', 'nobody@example.com'], 'No account has the e-mail address'],
    [3, ['show', createRequestId(1)], 'not found. Requests are recorded about a second after'],
  ])('exits with %i for %s', async (exitCode, words, message) => {
    expect(await gateway(...words)).toMatchObject({ exitCode, error: expect.stringContaining(message) });
  });
});

describe('daypass requests show', () => {
  it('prints attempts on one time axis, notes, tokens and the account', async () => {
    const [id = ''] = await write({
      account_id: accountId,
      route: 'b/m',
      duration_ms: 1_000,
      attempts: [
        {
          route: 'a/m',
          outcome: 'failed',
          fault: 'route',
          status: 503,
          error: 'HTTP 503',
          started_ms: 0,
          duration_ms: 500,
        },
        { route: 'b/m', outcome: 'served', started_ms: 500, duration_ms: 500 },
      ],
      notes: ['`seed` was left out'],
      input_tokens: 10,
      reasoning_tokens: 4,
      remote_address: '203.0.113.7',
    });
    const { output } = await gateway('show', id);
    expect(output).toMatch(/^account +\S+ Ani <ani@example.com>$/m);
    expect(output).toMatch(/^tokens +10 in$/m);
    expect(output).toMatch(/^of which +4 reasoning$/m);
    expect(output).toMatch(/1 +a\/m +failed +503 +route +0 ms +0\.50 s +█{16}·{16} +HTTP 503$/m);
    expect(output).toMatch(/2 +b\/m +served +0\.50 s +0\.50 s +·{16}█{16}$/m);
    expect(output).toContain('`seed` was left out');
    const shown = JSON.parse((await gateway('show', id, '--json')).output) as object;
    expect(shown).toMatchObject({ id, started_at: '2031-05-12T12:59:00.000Z', notes: ['`seed` was left out'] });
  });

  it('escapes what controls a terminal', async () => {
    const [id = ''] = await write({ user_agent: 'curl \u001b[2J', error_message: 'a\u0007b' });
    const { output } = await gateway('show', id);
    expect(output).toContain(String.raw`curl \x1b[2J`);
    expect(output).toContain(String.raw`a\x07b`);
  });
});
