import { cp, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '#core/platform/database/open.ts';
import { coreEntities } from '#core/process/entities.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { silentLog } from '../support/database.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, yamlFor } from '../support/gateway.ts';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

vi.setConfig({ testTimeout: 60_000 });

const example = resolve(import.meta.dirname, '..', '..', 'docs', 'examples', 'feedback');
/** Until the gateway has recovered, with room for a busy machine. */
const recovery = { timeout: 20_000, interval: 50 };
const html = { accept: 'text/html' };
let home: GatewayHome;
let gateway: GatewayProcess;
let database: TcpProxy;
let cookie: string;

beforeAll(async () => {
  home = await createGatewayHome('');
  await cp(example, join(home.folder, 'feedback'), { recursive: true });
  await home.write(`plugins: [./feedback/index.ts]\noperators: [boss@example.com]\n${yamlFor('http://127.0.0.1:1')}`);
  const url = new URL(home.databaseUrl);
  database = await createTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  url.host = `127.0.0.1:${database.port}`;
  gateway = await home.start({ DATABASE_URL: url.href });
  cookie = `dp_session=${await openSession()}`;
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** What a sign-in would do. */
async function openSession(): Promise<string> {
  await using own = await openDatabase({
    entities: coreEntities,
    url: home.databaseUrl,
    dataFolder: home.folder,
    log: silentLog,
    mode: 'command',
    isShared: true,
  });
  const [account] = await own.query<{ id: string }>('select id from account limit 1');
  return (await new Sessions(own).create(account!.id, 'test')).token;
}

const get = (path: string, headers: Record<string, string> = html) =>
  fetch(gateway.url + path, { headers, redirect: 'manual' });

async function sendFeedback(message: string, more: Record<string, string> = {}) {
  const page = await (await get('/feedback', { ...html, cookie })).text();
  const token = /action="\/feedback"[^]*?name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const body = new URLSearchParams({ form_token: token, message });
  return fetch(`${gateway.url}/feedback`, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { ...html, cookie, ...more },
  });
}

describe('a gateway', () => {
  it('answers browsers with pages, and model calls with JSON regardless of Accept', async () => {
    expect((await get('/')).headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect((await get('/nothing')).headers.get('content-type')).toBe('text/html; charset=utf-8');
    for (const path of ['/v1/nothing', '/v1beta/nothing', '/v1/models']) {
      expect((await get(path)).headers.get('content-type')).toMatch('application/json');
    }
  });

  it('answers other clients with JSON', async () => {
    const response = await get('/nothing', { accept: '*/*' });
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: expect.objectContaining({ code: 'not_found' }) },
    ]);
  });

  it('serves every asset that its pages reference', async () => {
    const page = await (await get('/')).text();
    const urls = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, url = '']) => url);
    expect(urls.length).toBeGreaterThan(2);
    for (const url of urls) expect((await get(url)).headers.get('cache-control')).toMatch('immutable');
  });
});

describe('docs/examples/feedback, copied next to gateway.yaml', () => {
  it('consists of one module, a template, a stylesheet and texts', async () => {
    expect((await readdir(join(home.folder, 'feedback'))).toSorted()).toEqual([
      'feedback.css',
      'feedback.eta',
      'index.ts',
      'texts',
    ]);
  });

  it('shows its page to accounts only', async () => {
    const asked = await get('/feedback');
    expect([asked.status, asked.headers.get('location')]).toEqual([302, '/sign-in?next=%2Ffeedback']);
    const page = await (await get('/feedback', { ...html, cookie })).text();
    expect(page).toMatch(/<h1>Feedback<\/h1>\s*<p>Hello /);
    expect(page).toMatch(/<link rel="stylesheet" href="\/assets\/[\w-]{12}\/feedback\.css">/);
    expect(await (await get('/feedback', { ...html, cookie, 'accept-language': 'id' })).text()).toContain(
      '<h1>Masukan</h1>',
    );
  });

  it('accepts a form once', async () => {
    const response = await sendFeedback('More models, fewer words');
    expect([response.status, response.headers.get('location')]).toEqual([303, '/feedback?sent=1']);
    expect(gateway.output()).toMatch(/feedback from [\da-f-]{36}: "More models, fewer words"/);
  });

  it('shows what is wrong with a form, and keeps the input', async () => {
    const response = await sendFeedback('<short');
    expect(response.status).toBe(422);
    expect(await response.text()).toMatch(/aria-invalid="true"[^>]*>&lt;short<\/textarea>/);
  });

  it('refuses a form from another site', async () => {
    const response = await sendFeedback('More models, fewer words', { origin: 'https://evil.example' });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('<h1>This form was sent from another site.</h1>');
  });
});

it.each(['cut', 'stall'] as const)(
  'while PostgreSQL is down (%s), public pages are shown and others report it',
  async (mode) => {
    database.turn(mode);
    const [front, own] = [await get('/', { ...html, cookie }), await get('/feedback', { ...html, cookie })];
    expect([front.status, own.status]).toEqual([200, 503]);
    expect(await own.text()).toContain('<h1>This page is temporarily unavailable.</h1>');
    database.turn('open');
    await vi.waitFor(async () => expect((await get('/feedback', { ...html, cookie })).status).toBe(200), recovery);
  },
);
