import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAccount } from '#core/business/accounts/accounts.ts';
import { isApiKey } from '#core/business/accounts/api-key.ts';
import type { Database } from '#core/platform/database/database.ts';
import { keyCommand } from '../../../plugins/keys/command.ts';
import { createStageHost } from '../../core/business/accounts/fixture.ts';
import { createTestDatabase } from '../../support/database.ts';
import { runOneCommand } from '../../support/run-one-command.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

/** Runs `daypass key …` and returns what it printed, and how it ended: 0, 1 failed, 2 usage, 3 not found. */
const gateway = (...words: string[]) => runOneCommand(keyCommand, (work) => work(createStageHost(database)), words);

async function gatewayJson(...words: string[]) {
  const { exitCode, output, error } = await gateway(...words, '--json');
  if (exitCode !== 0) throw new Error(error);
  return JSON.parse(output);
}

describe('key create', () => {
  it('daypass key create prints a key that works, once', async () => {
    const { output } = await gateway('create', '--name', 'Ani', '--email', 'ani@example.com');
    const key = /dp-\w{49}/.exec(output)?.[0] ?? '';
    expect(isApiKey(key, 'dp')).toBe(true);
    expect((await gateway('show', 'ani@example.com')).output).not.toContain(key);
    await expect(findAccount(database, key)).resolves.toMatchObject({ name: 'Ani' });
  });

  it('daypass key create grants days and sets limits', async () => {
    const created = await gatewayJson('create', '--name', 'Budi', '--days', '7', '--limit', '9', '--concurrent', '2');
    expect(created).toMatchObject({ active: true, periods: [{}], limits: { limit: 9, concurrent: 2 } });
  });

  it('daypass key create grants no days by default', async () => {
    expect(await gatewayJson('create', '--name', 'Citra')).toMatchObject({ active: false, periods: [], limits: null });
  });

  it('daypass key create keeps quotes in a name', async () => {
    const name = `O'Neil "; drop table account; --`;
    expect(await gatewayJson('create', '--name', name)).toMatchObject({ name });
  });

  it.each([
    ['no name', []],
    ['an empty name', ['--name', ' ']],
    ['a name with control characters', ['--name', 'a\u001b[31m']],
    ['a long name', ['--name', 'a'.repeat(201)]],
    ['no e-mail address', ['--name', 'E', '--email', 'e']],
    ['half a day', ['--name', 'E', '--days', '0.5']],
    ['no days', ['--name', 'E', '--days', '0']],
    ['more than a year', ['--name', 'E', '--days', '366']],
    ['a negative limit', ['--name', 'E', '--limit', '-1']],
    ['a limit in words', ['--name', 'E', '--limit', 'ten']],
    ['an unknown option', ['--name', 'E', '--nmae', 'E']],
  ])('daypass key create refuses %s as invalid usage', async (_name, words) => {
    const { exitCode, error } = await gateway('create', ...words);
    expect(exitCode).toBe(2);
    expect(error).toMatch(/^error: /);
  });
});

describe('key show', () => {
  it('daypass key show shows an account without its key', async () => {
    const { hint, key } = await gatewayJson('create', '--name', 'Fitri', '--days', '1');
    const { output } = await gateway('show', key);
    expect(output).toContain(hint);
    expect(output).toContain('Fitri');
    expect(output).toContain('active until');
    expect(output).not.toContain(key);
  });

  it('daypass key show exits with 3 when the account is not found', async () => {
    const { exitCode, error } = await gateway('show', 'nobody@example.com');
    expect([exitCode, error]).toEqual([3, 'No account has the e-mail address nobody@example.com.']);
  });

  it('daypass key create refuses an e-mail address that another account has', async () => {
    await gateway('create', '--name', 'D', '--email', 'd@example.com');
    expect(await gateway('create', '--name', 'D', '--email', 'D@example.com')).toMatchObject({
      exitCode: 1,
      error: 'The e-mail address D@example.com belongs to another account.',
    });
  });

  it('daypass key show requires an account', async () => {
    expect(await gateway('show')).toMatchObject({ exitCode: 2, error: expect.stringContaining('account') });
  });
});

describe('days granted during a period', () => {
  it('days granted during a period extend that period', async () => {
    const { account } = await gatewayJson('create', '--name', 'Lestari', '--days', '3');
    const shown = await gatewayJson('grant', account, '--days', '1', '--note', 'outage');
    expect(shown).toMatchObject({
      active_period: { starts_at: shown.periods[0].starts_at, ends_at: shown.periods[1].ends_at },
      plan: '3 days',
    });
    expect((await gateway('show', account)).output).toContain(`3 days, active until ${shown.periods[1].ends_at}`);
  });
});

describe('key rotate', () => {
  it('daypass key rotate prints a new key and revokes the old one', async () => {
    const created = await gatewayJson('create', '--name', 'Gita');
    const rotated = await gatewayJson('rotate', created.account);
    expect(rotated.key).not.toBe(created.key);
    expect((await gateway('show', created.key)).exitCode).toBe(3);
    await expect(findAccount(database, rotated.key)).resolves.toMatchObject({ id: created.account });
  });

  it('daypass key rotate exits with 3 when the account is not found', async () => {
    expect((await gateway('rotate', 'dp-none')).exitCode).toBe(3);
  });
});

describe('key limit', () => {
  it('daypass key limit changes the named limits and keeps the others', async () => {
    const { account } = await gatewayJson('create', '--name', 'Hadi', '--limit', '5', '--period', '10');
    expect(await gatewayJson('limit', account, '--limit', '6', '--burst', '3')).toMatchObject({
      limits: { limit: 6, period: 10, burst: 3 },
    });
  });

  it('daypass key limit removes all limits with --reset', async () => {
    const { account } = await gatewayJson('create', '--name', 'Indah', '--limit', '5');
    expect(await gatewayJson('limit', account, '--reset')).toMatchObject({ limits: null });
  });

  it('daypass key limit without a limit is refused', async () => {
    expect(await gateway('limit', 'a@example.com')).toMatchObject({ exitCode: 2 });
  });

  it('daypass key limit refuses --reset together with limits', async () => {
    expect(await gateway('limit', 'a@example.com', '--reset', '--limit', '5')).toMatchObject({ exitCode: 2 });
  });
});

describe('key grant', () => {
  it('daypass key grant adds days and records the reason', async () => {
    const { account } = await gatewayJson('create', '--name', 'Joko', '--days', '1');
    const granted = await gatewayJson('grant', account, '--days', '3', '--note', 'outage', '--label', 'gift');
    expect(granted.periods.map(({ label }: { label: string }) => label)).toEqual(['1 day', 'gift']);
    const notes = await database.query('select note, reason, days from plan_period where account_id = ? order by id', [
      account,
    ]);
    expect(notes.at(-1)).toEqual({ note: 'outage', reason: 'grant', days: 3 });
  });

  it('daypass key grant fails when the days reach more than a year ahead', async () => {
    const { account } = await gatewayJson('create', '--name', 'Kartika', '--days', '360');
    const { exitCode, error } = await gateway('grant', account, '--days', '30', '--note', 'x');
    expect([exitCode, error]).toEqual([1, 'an account can have at most 365 days ahead; add fewer days']);
  });

  it('daypass key grant requires days and a note', async () => {
    expect(await gateway('grant', 'a@example.com', '--days', '3')).toMatchObject({ exitCode: 2 });
    expect(await gateway('grant', 'a@example.com', '--note', 'x')).toMatchObject({ exitCode: 2 });
  });
});

describe('--help', () => {
  it.each(['create', 'show', 'rotate', 'limit', 'grant'])(
    'daypass key %s --help has examples and exit codes',
    async (name) => {
      const { exitCode, output } = await gateway(name, '--help');
      expect(exitCode).toBe(0);
      expect(output).toContain(`$ daypass key ${name} `);
      expect(output).toContain('Exit codes: 0 success, 1 failure, 2 invalid usage, 3 account not found.');
    },
  );
});
