import { tmpdir } from 'node:os';
import { expect, inject, it, vi } from 'vitest';
import { openDatabase } from '#core/platform/database/open.ts';
import type { PluginTables } from '#core/platform/database/tables.ts';
import { readDatabaseWaitSeconds, waitForDatabase } from '#core/platform/database/wait.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../../../support/database.ts';
import { createTcpProxy } from '../../../support/tcp-proxy.ts';

const intervals = { attempts: 10, lines: 20 };

const tables: PluginTables = {
  name: 'first',
  entities: [],
  migrations: new URL('./tables-fixture/first/', import.meta.url),
};

/** The test's PostgreSQL behind a proxy that can fail. */
async function openProxied(url = new URL(inject('postgresUrl'))) {
  const proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${proxy.port}`;
  return { url: proxied.href, proxy };
}

it('a start waits for a database that is down, with a line each interval, and goes on when it is back', async () => {
  const { url, proxy } = await openProxied();
  await using _proxy = proxy;
  proxy.turn('cut');
  const warn = vi.fn<(line: string) => void>();
  const info = vi.fn<(line: string) => void>();
  const waiting = waitForDatabase(url, 'DATABASE_URL', {
    limitSeconds: 60,
    log: { ...silentLog, warn, info },
    intervalsMs: intervals,
  });
  await vi.waitFor(() => expect(warn.mock.calls.length).toBeGreaterThan(2));
  const { pathname } = new URL(url);
  for (const [line] of warn.mock.calls)
    expect(line).toMatch(
      new RegExp(
        `^waiting for the database 127\\.0\\.0\\.1:${proxy.port}${pathname} of DATABASE_URL: .+ \\(\\d+ of at most 60 s\\)$`,
      ),
    );
  proxy.turn('open');
  await waiting;
  expect(info.mock.calls).toEqual([[expect.stringMatching(/^the database of DATABASE_URL responded after \d+ s$/)]]);
});

it.each([8, 11, 14])(
  'a start waits again for a database that goes away at answer %i of its opening',
  async (answer) => {
    const given = new URL(await createBareDatabase());
    const { url, proxy } = await openProxied(given);
    await using _proxy = proxy;
    const lines: string[] = [];
    const warn = (line: string) => {
      lines.push(line);
      proxy.turn('open');
    };
    proxy.cutAfter(answer);
    const database = await openDatabase({
      url,
      dataFolder: tmpdir(),
      log: { ...silentLog, warn },
      mode: 'serve',
      isShared: true,
      waitSeconds: 60,
      tables: [tables],
    });
    await proxy.isCut;
    await expect(database.query('select text from first_note')).resolves.toEqual([]);
    await database[Symbol.asyncDispose]();
    await dropDatabase(given.href);
    expect(lines).toContainEqual(
      expect.stringMatching(/^lost the database while opening it \(.+\): waiting for it again$/),
    );
  },
);

it('a start does not wait for a database that refuses the login, or without DATABASE_WAIT', async () => {
  const warn = vi.fn<(line: string) => void>();
  const log = { ...silentLog, warn };
  const url = new URL(inject('postgresUrl'));
  url.pathname = '/daypass_nowhere';
  await waitForDatabase(url.href, 'DATABASE_URL', { limitSeconds: 60, log, intervalsMs: intervals });
  await waitForDatabase('postgres://127.0.0.1:1/daypass', 'DATABASE_URL', {
    limitSeconds: 0,
    log,
    intervalsMs: intervals,
  });
  expect(warn).not.toHaveBeenCalled();
});

it('a stop ends the wait', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped');
  const log = { ...silentLog, warn: () => stop.abort(reason) };
  const waiting = waitForDatabase('postgres://127.0.0.1:1/daypass', 'DATABASE_URL', {
    limitSeconds: 60,
    log,
    intervalsMs: { attempts: 60_000, lines: 60_000 },
    signal: stop.signal,
  });
  await expect(waiting).rejects.toBe(reason);
});

it('DATABASE_WAIT is a number of seconds', () => {
  expect([undefined, '', '0', '3600'].map((text) => readDatabaseWaitSeconds({ DATABASE_WAIT: text }))).toEqual([
    0, 0, 0, 3600,
  ]);
  for (const text of ['forever', '-1', '1.5', '86401'])
    expect(() => readDatabaseWaitSeconds({ DATABASE_WAIT: text })).toThrow(
      `DATABASE_WAIT is "${text}". Write a number`,
    );
});
