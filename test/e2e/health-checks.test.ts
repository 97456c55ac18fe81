import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLogger } from '#core/platform/logger.ts';
import type { ProblemView } from '#core/web/problems/find-problems.ts';
import { startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';
import { execute, withDatabase } from '../support/global-postgres.ts';
import { PageClient } from '../support/page-client.ts';

const operator = 'ops@example.com';
/** The monitor looks every five seconds. */
const patience = { timeout: 20_000, interval: 100 };
const reason = 'the lamp is broken. Replace it.';

/** Fails while `broken` is in the data folder. */
const plugin = `
import { existsSync } from 'node:fs';
import { join } from 'node:path';
export const plugin = {
  name: 'lamp',
  register(server) {
    server.gateway.healthCheck({
      name: 'lamp',
      check: ({ dataFolder }) =>
        existsSync(join(dataFolder, 'broken')) ? { ok: false, reason: '${reason}', since: 1_000 } : { ok: true },
    });
    server.gateway.problem({
      name: 'wick',
      order: 95,
      find: ({ host: { dataFolder } }) =>
        existsSync(join(dataFolder, 'burnt'))
          ? [{ severity: 'warn', title: 'Wick', pieces: [{ text: 'trim it' }], step: { path: '/operator/health' } }]
          : [],
    });
  },
};
`;

interface Readiness {
  readonly status: string;
  readonly checks: readonly { name: string; ok: boolean; reason?: string }[];
  readonly problems: readonly ProblemView[];
}

let gateway: TestGateway;
let broken = '';
const lines: string[] = [];
beforeAll(async () => {
  gateway = await startGateway({
    yaml: `${yamlFor('http://127.0.0.1:9')}operators: [${operator}]\nplugins: [./lamp.mjs]\n`,
    files: { 'lamp.mjs': plugin },
    log: createLogger((line) => void lines.push(line)),
  });
  broken = join(gateway.gateway.host.dataFolder, 'broken');
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const logged = (text: string) => lines.filter((line) => line.includes(text)).length;
const read = async (path: string) => (await fetch(`${gateway.operatorUrl}${path}`)).text();
const readiness = async () => JSON.parse(await read('/readyz?verbose')) as Readiness;

const databaseName = () => new URL(gateway.database.url).pathname.slice(1);
const administer = (sql: string) => execute(withDatabase(gateway.database.url, 'postgres'), sql);
const setReadOnly = async (value: 'on' | 'off') => {
  await administer(`ALTER DATABASE ${databaseName()} SET default_transaction_read_only = ${value}`);
  await administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${databaseName()}'`);
};
const rename = (from: string, to: string) => execute(gateway.database.url, `ALTER TABLE ${from} RENAME TO ${to}`);

it('a problem of a plugin appears in readiness, metrics and on the overview, and degrades nothing', async () => {
  const client = new PageClient(gateway.url);
  await client.submit('/sign-in', '/sign-in', { name: 'Ada', email: operator });
  const burnt = join(gateway.gateway.host.dataFolder, 'burnt');
  await writeFile(burnt, '');
  const { status, problems } = await readiness();
  expect(status).toBe('ok');
  expect(problems).toContainEqual({
    problem: 'wick',
    severity: 'warn',
    title: 'Wick',
    text: 'trim it',
    subject: null,
    since: null,
    page: '/operator/health',
    runbook: null,
  });
  expect(await read('/metrics')).toContain('daypass_problems{problem="wick",severity="warn"} 1');
  expect((await client.get('/operator')).text).toContain('trim it');
  await rm(burnt);
  // Programs read of it for ten seconds more.
  expect((await client.get('/operator')).text).not.toContain('trim it');
});

it('a failing check appears in readiness, metrics, log and operator pages, and the gateway stays ready', async () => {
  const client = new PageClient(gateway.url);
  await client.submit('/sign-in', '/sign-in', { name: 'Ada', email: operator });
  expect((await readiness()).status).toBe('ok');

  await writeFile(broken, '');
  const { status, checks } = await readiness();
  expect(status).toBe('degraded');
  expect(checks).toContainEqual({ name: 'lamp', ok: false, reason, since: '1970-01-01T00:00:01.000Z' });
  expect(await read('/metrics')).toContain('health_check{check="lamp"} 0');
  expect((await client.get('/operator')).text).toContain(`<strong>lamp</strong>: ${reason}`);
  expect((await client.get('/operator/health')).text).toContain(reason);
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  await vi.waitFor(() => expect(logged(`health check "lamp" fails: ${reason}`)).toBe(1), patience);

  await rm(broken);
  expect((await readiness()).status).toBe('ok');
  expect(await read('/metrics')).toContain('health_check{check="lamp"} 1');
  await vi.waitFor(() => expect(logged('health check "lamp" passes again')).toBe(1), patience);
  expect(logged('health check "lamp" fails')).toBe(1);
});

describe('the check of records fails at once when the database', () => {
  it.each([
    ['only reads', () => setReadOnly('on'), () => setReadOnly('off'), /read-only transaction/],
    [
      'has lost the table',
      () => rename('request_log', 'elsewhere'),
      () => rename('elsewhere', 'request_log'),
      /relation "request_log" does not exist/,
    ],
  ])('%s, and passes when the records have arrived', async (_name, act, undo, why) => {
    await act();
    try {
      await fetch(`${gateway.url}/v1/models`);
      await vi.waitFor(async () => {
        const { status, checks } = await readiness();
        const found = checks.find((check) => check.name === 'records');
        expect([status, found?.ok]).toEqual(['degraded', false]);
        expect(found?.reason).toMatch(why);
        expect(found?.reason).toMatch(/^\d+ records? waits? for the database/);
      }, patience);
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    } finally {
      await undo();
    }
    await vi.waitFor(async () => expect((await readiness()).status).toBe('ok'), patience);
  });
});

it('a disk with fewer free bytes than configured makes readiness degraded', async () => {
  await using full = await startGateway({
    yaml: `${yamlFor('http://127.0.0.1:9')}data: { min_free_bytes: ${2 ** 52} }\n`,
  });
  const reply = await fetch(`${full.operatorUrl}/readyz?verbose`);
  const { status, checks } = (await reply.json()) as Readiness;
  const tooLittle = expect.stringMatching(
    /^\d+ bytes are free on the disk of .*, less than data.min_free_bytes/,
  ) as string;
  expect(status).toBe('degraded');
  expect(checks).toContainEqual(expect.objectContaining({ name: 'disk', ok: false, reason: tooLittle }));
  expect(await (await fetch(`${full.operatorUrl}/metrics`)).text()).toMatch(/_free_disk_bytes \d{6,}/);
});
