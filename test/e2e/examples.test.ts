import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGatewayHome, type GatewayHome, type GatewayProcess, wholePipeline } from '../support/gateway.ts';
import { PageClient } from '../support/page-client.ts';

const examples = resolve(import.meta.dirname, '..', '..', 'docs', 'examples');
const catalog = 'upstreams: { demo: { vendor: demo } }\nmodels: { test: { routes: [demo/chatty] } }';

vi.setConfig({ testTimeout: 60_000 });

let home: GatewayHome;
let gateway: GatewayProcess;
beforeAll(async () => {
  home = await createGatewayHome('');
  await cp(examples, join(home.folder, 'examples'), { recursive: true });
  const pipeline = wholePipeline.replace('- auth\n', '- auth\n  - redact: { words: [demo], with: "****" }\n');
  await home.write(`
plugins: [./examples/redact.ts, ./examples/notes/index.ts, ./examples/order-reference/index.ts]
notes: { keep_days: 1 }
${pipeline}
${catalog}`);
  gateway = await home.start();
});
afterAll(() => home[Symbol.asyncDispose]());

const authorized = () => ({ authorization: `Bearer ${home.key}`, 'content-type': 'application/json' });
const post = (path: string, body: object) =>
  fetch(`${gateway.url}${path}`, { method: 'POST', headers: authorized(), body: JSON.stringify(body) });

/** Everything that an answer says under these names, deltas included, without what repeats it. */
const textsIn = (body: string): string =>
  [...body.matchAll(/"(?:content|text|delta)":"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text).join('');

const fetchText = async (id: string) =>
  textsIn(await (await fetch(`${gateway.url}/v1/responses/${id}`, { headers: authorized() })).text());

describe('docs/examples/redact.ts', () => {
  const messages = [{ role: 'user', content: 'Hello!' }];
  const contents = [{ role: 'user', parts: [{ text: 'Hello!' }] }];
  const calls: [string, string, object, string, object][] = [
    ['chat', '/v1/chat/completions', { model: 'test', messages }, '/v1/chat/completions', { stream: true }],
    ['responses', '/v1/responses', { model: 'test', input: 'Hello!' }, '/v1/responses', { stream: true }],
    ['messages', '/v1/messages', { model: 'test', messages, max_tokens: 200 }, '/v1/messages', { stream: true }],
    [
      'gemini',
      '/v1beta/models/test:generateContent',
      { contents },
      '/v1beta/models/test:streamGenerateContent?alt=sse',
      {},
    ],
    [
      'gemini, as an array',
      '/v1beta/models/test:generateContent',
      { contents },
      '/v1beta/models/test:streamGenerateContent',
      {},
    ],
  ];

  it.each(calls)(
    'changes the words of a %s answer, whole and streamed',
    async (_name, path, body, streamPath, extra) => {
      const whole = await post(path, body);
      expect(whole.status).toBe(200);
      const wholeText = textsIn(await whole.text());
      const streamed = await post(streamPath, { ...body, ...extra });
      expect(streamed.status).toBe(200);
      const streamedText = textsIn(await streamed.text());
      for (const text of [wholeText, streamedText]) {
        expect(text).toContain('****');
        expect(text).not.toMatch(/\bdemo\b/i);
      }
    },
  );

  it('does not change a stored answer, which is kept as the model gave it, unless it ran in the background', async () => {
    const asks = { model: 'test', input: 'Hello!' };
    const { id } = (await (await post('/v1/responses', asks)).json()) as { id: string };
    expect(await fetchText(id)).toMatch(/\bdemo\b/i);
    const background = (await (await post('/v1/responses', { ...asks, background: true })).json()) as { id: string };
    await expect.poll(() => fetchText(background.id)).toContain('****');
    expect(await fetchText(background.id)).not.toMatch(/\bdemo\b/i);
  });
});

describe('docs/examples/notes', () => {
  it('keeps notes for each account in a table of its own', async () => {
    const added = await post('/v1/notes', { text: 'buy milk' });
    expect(added.status).toBe(201);
    const { id } = (await added.json()) as { id: string };
    const listed = await fetch(`${gateway.url}/v1/notes`, { headers: authorized() });
    expect(await listed.json()).toEqual({ data: [{ id, text: 'buy milk' }] });
    expect(await home.database.query('SELECT account_id, text FROM notes')).toEqual([
      { account_id: home.accountId, text: 'buy milk' },
    ]);
    expect(await home.database.query("SELECT name FROM migration WHERE name LIKE 'notes/%'")).toHaveLength(1);
  });

  it('refuses a note without text, in the format of the client', async () => {
    const refused = await post('/v1/notes', {});
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: 'text' } }]);
  });

  it('deletes old notes with a job, which runs at once when its schedule is new', async () => {
    await gateway.end('SIGTERM');
    await home.database.query('DROP SCHEMA bullmq CASCADE');
    const sql = "INSERT INTO notes VALUES (gen_random_uuid(), ?, 'old', now() - interval '2 days')";
    await home.database.query(sql, [home.accountId]);
    gateway = await home.start();
    await vi.waitFor(
      async () => expect(await home.database.query("SELECT 1 FROM notes WHERE text = 'old'")).toEqual([]),
      { timeout: 15_000 },
    );
  });
});

const html = (language: string) => ({ headers: { accept: 'text/html', 'accept-language': language } });

describe('docs/examples/order-reference', () => {
  it('shows its page from Markdown in both languages', async () => {
    const pages = await Promise.all(
      ['en', 'id'].map(async (language) => (await fetch(`${gateway.url}/order-references`, html(language))).text()),
    );
    expect(pages[0]).toContain('<h1>Order references</h1>');
    expect(pages[1]).toContain('<h1>Nomor referensi</h1>');
  });

  it('puts what a buyer writes at checkout on the receipt', async () => {
    const buyer = new PageClient(gateway.url);
    await buyer.submit('/sign-in', '/sign-in', { name: 'Ani', email: 'ani@example.com' });
    const refused = await buyer.submit('/buy', '/buy', { days: '7', order_reference: '<b>' });
    expect([refused.status, refused.text.includes('Use letters, digits')]).toEqual([422, true]);
    const { location } = await buyer.submit('/buy', '/buy', { days: '7', order_reference: 'PO/4711' });
    const bank = `/sandbox/${location.split('/')[2]}.1`;
    await buyer.submit(bank, bank, { action: 'pay' });
    // The notification of the bank is processed in the background.
    await vi.waitFor(
      async () =>
        expect((await buyer.get(`${location}/receipt`)).text).toContain('<dt>Order reference</dt><dd>PO/4711</dd>'),
      { timeout: 20_000, interval: 100 },
    );
  });
});
