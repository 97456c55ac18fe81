import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPageSize } from '#core/gateway/records/read-requests.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase, silentLog } from '../../../support/database.ts';
import { failover } from './fixture.ts';
import { serveRequests } from './serve-fixture.ts';

const path = '/dashboard/requests';
/** For the end of an export, which its client may see before the page has released its slot. */
const patience = { timeout: 15_000 };

let database: Database;
let pages: Awaited<ReturnType<typeof serveRequests>>;
let origin: string;
/** Pages of records that were asked for, and what all but the first of an export wait for. */
let reads = 0;
let gate: Promise<void> | undefined;
/** Lines of the log. */
const errors: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const query: Database['query'] = async (sql, parameters) => {
    if (sql.includes('FROM request_log')) reads++;
    if (sql.includes('(started_at, id) <')) await gate;
    return database.query(sql, parameters);
  };
  const log = { ...silentLog, error: (message: string) => void errors.push(message) };
  pages = await serveRequests(
    { ...database, query, records: { query }, fork: () => database.fork() },
    { parts: { log } },
  );
  await pages.server.start();
  origin = `http://127.0.0.1:${(pages.server.listener.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await pages?.server.stop();
  await database?.[Symbol.asyncDispose]();
});

async function accountWith(count: number) {
  const account = await pages.signIn();
  const now = Date.now();
  const ids = await account.write(...Array.from({ length: count }, (_, index) => ({ started_at: now - index })));
  const cookie = [...account.browser.cookies].map((pair) => pair.join('=')).join('; ');
  const open = (extension: string, method: 'GET' | 'HEAD' = 'GET') =>
    request(`${origin}${path}.${extension}`, { method, headers: { cookie, accept: 'text/html' } });
  return { ...account, ids, open };
}

describe('an export', () => {
  it('has every request once, over several pages', async () => {
    const { browser, ids } = await accountWith(exportPageSize + 1);
    const { payload } = await browser.get(`${path}.jsonl`);
    const lines = payload.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(ids);
  });

  it('is, as CSV, a named file that spreadsheets read as UTF-8', async () => {
    const { browser } = await accountWith(2);
    const { payload, headers } = await browser.get(`${path}.csv`);
    expect(headers['content-disposition']).toMatch(/^attachment; filename="daypass-requests-\d{4}-\d\d-\d\d\.csv"$/);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect([payload.startsWith('\uFEFFid,time,model,alias_of,route,'), payload.split('\r\n').length]).toEqual([
      true,
      4,
    ]);
  });

  it('has what the list has', async () => {
    const { browser, write } = await accountWith(3);
    const [id] = await write({ started_at: Date.now(), ...failover });
    const { payload } = await browser.get(`${path}.jsonl?show=failover`);
    expect(
      payload
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id),
    ).toEqual([id]);
  });

  it('of nothing is a heading', async () => {
    const { browser } = await accountWith(0);
    expect((await browser.get(`${path}.csv`)).payload.split('\r\n')).toHaveLength(2);
    expect((await browser.get(`${path}.jsonl`)).payload).toBe('');
  });

  it('is for readers who are signed in', async () => {
    expect(
      (await pages.server.inject({ url: `${path}.csv`, headers: { accept: 'text/html' } })).headers.location,
    ).toContain('/sign-in');
  });

  it('is refused after five in a row', async () => {
    const { browser } = await accountWith(1);
    const statuses: number[] = [];
    for (let count = 0; count < 6; count++) statuses.push((await browser.get(`${path}.csv`)).statusCode);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('runs alone, and reads no further when its client has left', async () => {
    const { open } = await accountWith(3 * exportPageSize);
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    reads = 0;
    const { body } = await open('jsonl');
    body.on('error', () => undefined);
    await once(body, 'readable');
    await expect.poll(() => reads, patience).toBe(2);
    expect((await open('jsonl')).statusCode).toBe(429);
    const isNoticed = new Promise<void>((notice) => {
      pages.server.events.on('response', ({ info }) => {
        if (info.responded === 0) notice();
      });
    });
    body.destroy();
    await isNoticed;
    gate = undefined;
    resolve();
    await expect.poll(async () => (await open('csv', 'HEAD')).statusCode, patience).toBe(200);
    // The third is of the second export.
    expect([reads, errors]).toEqual([3, []]);
  });

  it('breaks off if the database fails, so that a part is not taken for the whole', async () => {
    const { open } = await accountWith(2 * exportPageSize);
    gate = Promise.reject(new Error('the database is gone'));
    gate.catch(() => undefined);
    const { body, statusCode } = await open('jsonl');
    await expect(body.text()).rejects.toThrow();
    gate = undefined;
    expect([statusCode, errors.splice(0)]).toEqual([200, ['an export of requests failed']]);
    expect((await open('csv', 'HEAD')).statusCode).toBe(200);
  });

  it('that is only asked for its headers leaves room as well', async () => {
    const { open } = await accountWith(1);
    const statuses = [await open('csv', 'HEAD'), await open('csv', 'HEAD')].map(({ statusCode }) => statusCode);
    expect(statuses).toEqual([200, 200]);
  });
});
