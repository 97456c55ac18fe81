import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeLimits } from '#core/business/accounts/account-key.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { type AuditOptions, auditPage } from '../support/audit-page.ts';
import { launchBrowser, narrow, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

const path = '/dashboard/try';
/** For `expect.poll`: the machine may be busy. */
const patience = { timeout: 20_000 };
const attack = '"><img src=x onerror="wasAttacked=1"><script>wasAttacked=1</script>';

// An upstream that stalls is stopped by the reader, however long the browser takes.
const yaml = `${wholePipeline.replace('idle_timeout: 5', 'idle_timeout: 60')}
upstreams:
  demo: { vendor: demo }
models:
  demo: { routes: [demo/chatty], display_name: ${JSON.stringify(attack)} }
  down: { routes: [demo/fail-503] }
  blind: { routes: [demo/chatty], capabilities: { images: false } }
  painter: { kind: image, routes: [demo/image] }
  vectors: { kind: embedding, routes: [demo/embedding] }
  sorter: { kind: rerank, routes: [demo/rerank] }
  speaker: { kind: speech, routes: [demo/speech] }
  checker: { kind: moderation, routes: [demo/moderation] }
  listener: { kind: transcription, routes: [demo/transcription] }
  a-name-of-sixty-characters-that-shows-how-long-names-wrap-1: { routes: [demo/chatty] }
aliases: { other: demo }
`;

let browser: TestBrowser;
let gateway: TestGateway;

beforeAll(async () => {
  [browser, gateway] = await Promise.all([launchBrowser(), startGateway({ yaml })]);
}, 120_000);
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

/** A new account in a window, with days unless it has none. */
async function openWindow({ days = 1, options }: { days?: number; options?: BrowserContextOptions } = {}) {
  const window = await browser.open(options);
  const { page } = window;
  const email = `${crypto.randomUUID()}@example.com`;
  await page.goto(`${gateway.url}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.locator('main form button').click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
  const [account] = await gateway.database.query<{ id: string }>('select id from account where email = ?', [email]);
  const accountId = account?.id ?? '';
  if (days > 0) await grantDays(gateway.database, accountId, { days });
  return { window, page, accountId, [Symbol.asyncDispose]: () => window[Symbol.asyncDispose]() };
}

async function openPlayground(page: Page, model = 'dp/demo'): Promise<void> {
  await page.goto(`${gateway.url}${path}?model=${model}`);
}

async function send(page: Page, text: string, label = 'Message'): Promise<void> {
  await page.getByLabel(label).fill(text);
  await page.keyboard.press('Control+Enter');
}

const answer = (page: Page) => page.locator('.answer').last();
const openLink = (page: Page) => answer(page).locator('a.open');
const figure = (page: Page, name: string) => answer(page).locator(`[data-figure=${name}]`);
const error = (page: Page) => answer(page).locator('.answer-error');

/** The record of the request that the last answer links to. */
async function recordOf(page: Page) {
  const id = (await answer(page).locator('a[href*="/requests/"]').getAttribute('href'))?.split('/').at(-1);
  const find = () =>
    gateway.database.query<Record<string, unknown>>(
      'select account_id, key_hint, outcome, model from request_log where id = ?',
      [id],
    );
  await expect.poll(async () => (await find()).length, patience).toBe(1);
  return (await find())[0];
}

describe('the playground', () => {
  it('streams an answer by keyboard with its figures, and records the request for the account', async () => {
    await using opened = await openWindow();
    const { page, window, accountId } = opened;
    await openPlayground(page);
    await send(page, 'Hello there');
    await openLink(page).waitFor();
    expect(await answer(page).textContent()).toContain('Hello there');
    expect(await figure(page, 'first').textContent()).toMatch(/\d (ms|s)$/);
    expect(await figure(page, 'out').textContent()).toMatch(/^\d+$/);
    expect(await figure(page, 'total').textContent()).toMatch(/\d (ms|s)$/);
    expect(await recordOf(page)).toMatchObject({ account_id: accountId, key_hint: 'playground', outcome: 'answered' });
    expect(window.complaints).toEqual([]);
  });

  it('sends the settings, and shows the same request as code', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await page.getByLabel('System prompt').fill('Answer briefly.');
    await page.getByRole('spinbutton', { name: 'Temperature' }).fill('0.4');
    await page.getByRole('spinbutton', { name: 'Output limit' }).fill('50');
    await page.getByLabel('Reasoning').selectOption('low');
    await page.getByRole('radio', { name: 'JSON schema' }).check();
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/chat/completions'));
    await send(page, 'First');
    expect((await sent).postDataJSON()).toMatchObject({
      model: 'dp/demo',
      messages: [
        { role: 'system', content: 'Answer briefly.' },
        { role: 'user', content: 'First' },
      ],
      temperature: 0.4,
      max_tokens: 50,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema' },
    });
    await openLink(page).waitFor();
    await page.getByLabel('Message').fill(`It's "second"`);
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    const curl = page.locator('#sample-curl code');
    await expect.poll(() => curl.textContent(), patience).toContain(`"content": "It'\\''s \\"second\\""`);
    expect(await curl.textContent()).toContain('"temperature": 0.4');
    expect(await curl.textContent()).toContain('"role": "assistant"');
    for (const language of ['Python', 'TypeScript', 'Go', 'PHP']) {
      await page.locator('.code:visible').getByRole('link', { name: language }).click();
      expect(await page.locator('.code:visible code').textContent()).toContain('Answer briefly.');
    }
  });

  it('asks two models the same question, and goes on with each of its own answers', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByLabel('Second model').selectOption('dp/down');
    await send(page, 'Hello');
    const [left, right] = [page.locator('[data-pane="0"]').last(), page.locator('[data-pane="1"]').last()];
    await left.locator('a.open').waitFor();
    await expect.poll(() => right.textContent(), patience).toContain('No route responded.');
    const sent: object[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/chat/completions')) sent.push(request.postDataJSON() as object);
    });
    await send(page, 'Again');
    await expect.poll(() => sent.length, patience).toBe(2);
    expect(sent.find((body) => (body as { model: string }).model === 'dp/down')).toMatchObject({
      messages: [{ role: 'user', content: 'Again' }],
    });
    expect(sent.find((body) => (body as { model: string }).model === 'dp/demo')).toMatchObject({
      messages: [{ content: 'Hello' }, { role: 'assistant' }, { content: 'Again' }],
    });
  });

  it('sends the result of a tool that a model calls', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('1 parameter').waitFor();
    await page.getByText('Edit as JSON').click();
    await page.getByLabel('Tools', { exact: true }).fill('[{"type": "nothing"}]');
    await send(page, 'call get_weather for Jakarta');
    await page.getByText('Enter a JSON list of tools').waitFor();
    expect(await page.locator('.answer').count()).toBe(0);
    await page.getByLabel('Tools', { exact: true }).fill('');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByLabel('What the tool returns').fill('{"celsius": 31}');
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/chat/completions'));
    await page.getByRole('button', { name: 'Send result' }).click();
    const { messages } = (await sent).postDataJSON() as { messages: object[] };
    expect(messages.slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ function: { name: 'get_weather' } }] },
      { role: 'tool', content: '{"celsius": 31}' },
    ]);
    await expect.poll(() => answer(page).locator('a.open').isVisible(), patience).toBe(true);
  });

  it('attaches files within its bounds to models that take them', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    const attach = (name: string, mimeType: string, buffer: Buffer) =>
      page.locator('#attach').setInputFiles({ name, mimeType, buffer });
    await attach('pool.ts', 'video/mp2t', Buffer.from('let a = 1;'));
    await attach('dot.png', 'image/png', Buffer.from('png'));
    await page.getByRole('button', { name: 'Remove dot.png' }).waitFor();
    await attach('large.png', 'image/png', Buffer.alloc(5_000_001));
    await page.getByText('large.png is too large. The limit is 5 MB.').waitFor();
    await attach('film.mp4', 'video/mp4', Buffer.from('x'));
    await page.getByText('film.mp4 cannot be read here.').waitFor();
    await page.getByLabel('Model', { exact: true }).selectOption('dp/blind');
    await send(page, 'What is this?');
    await page.getByText('dp/blind takes no images.').waitFor();
    await page.getByRole('button', { name: 'Remove dot.png' }).click();
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/chat/completions'));
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    expect((await sent).postDataJSON()).toMatchObject({
      messages: [{ content: [{ text: 'What is this?' }, { text: 'pool.ts\n```\nlet a = 1;\n```' }] }],
    });
    await page.locator('.sent-files').getByText('pool.ts').waitFor();
  });

  it('stops an answer, which is recorded as aborted by the client, and asks again', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await send(page, 'Hello [[stall-midway]]');
    await expect.poll(() => answer(page).locator('.turn-text').textContent(), patience).toContain('Hello');
    await page.getByRole('button', { name: 'Stop' }).click();
    await answer(page).getByText('You stopped it.').waitFor();
    expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(false);
    expect(await recordOf(page)).toMatchObject({ outcome: 'aborted' });
    const sent = page.waitForRequest((request) => request.url().endsWith('/v1/chat/completions'));
    await page.getByRole('button', { name: 'Retry' }).click();
    expect(((await sent).postDataJSON() as { messages: object[] }).messages).toHaveLength(1);
    expect(await page.locator('.answer').count()).toBe(1);
  });

  it('reports that an answer broke off, and keeps the received text', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await send(page, 'Hello [[cut]]');
    await answer(page).getByText('The response broke off.').waitFor();
    expect(await answer(page).locator('.turn-text').textContent()).not.toBe('');
    expect(await answer(page).getByRole('button', { name: 'Retry' }).isVisible()).toBe(true);
  });

  it('shows answers as text, not as HTML', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await send(page, attack);
    await openLink(page).waitFor();
    expect(await answer(page).locator('.turn-text').textContent()).toContain(attack);
    expect(await page.evaluate('globalThis.wasAttacked')).toBeUndefined();
  });
});

describe('a request that fails', () => {
  it('links to the plans if there is no pass, and keeps the question', async () => {
    await using opened = await openWindow({ days: 0 });
    const { page } = opened;
    await openPlayground(page);
    await send(page, 'Hello');
    await error(page).getByText('No active pass.').waitFor();
    expect(await error(page).getByRole('link').getAttribute('href')).toBe('/buy');
    expect(await page.locator('.question').textContent()).toContain('Hello');
  });

  it('is reported with a link to its record if every route failed', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page, 'dp/down');
    await send(page, 'Hello');
    await error(page).getByText('No route responded.').waitFor();
    expect(await error(page).getByRole('link').getAttribute('href')).toMatch(/^\/dashboard\/requests\/req_/);
  });

  it('counts down the seconds of a rate limit, and is sent again after them', async () => {
    await using opened = await openWindow();
    const { page, accountId } = opened;
    // Long enough for the first answer, which must be over before the second request is refused.
    await changeLimits(gateway.database, accountId, { limit: 1, period: 8, burst: 1 });
    await openPlayground(page);
    await send(page, 'One');
    await openLink(page).waitFor();
    await send(page, 'Two');
    await expect
      .poll(() => error(page).textContent(), patience)
      .toMatch(/Rate limit reached\.\s*Send again in [1-8] s\./);
    await error(page).getByText('You can send it again now.').waitFor();
    await answer(page).getByRole('button', { name: 'Retry' }).click();
    await expect.poll(() => page.locator('.answer a.open:not([hidden])').count(), patience).toBe(2);
  });

  it('because the session has ended links to the sign-in', async () => {
    await using opened = await openWindow();
    const { page, accountId } = opened;
    await openPlayground(page);
    await new Sessions(gateway.database).revokeAll(accountId);
    await send(page, 'Hello');
    await error(page).getByText('You were signed out.').waitFor();
    expect(await error(page).getByRole('link').getAttribute('href')).toBe('/sign-in?next=/dashboard/try');
  });

  it('because the gateway cannot be reached is reported', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    await page.context().setOffline(true);
    await send(page, 'Hello');
    await error(page).getByText('The gateway did not respond.').waitFor();
  });
});

describe('without JavaScript the playground', () => {
  it('shows whole answers, turn after turn, in the same log', async () => {
    await using opened = await openWindow({ options: { javaScriptEnabled: false, ...narrow } });
    const { page, accountId } = opened;
    await openPlayground(page);
    for (const text of ['First', 'Second']) {
      await page.getByLabel('Message').fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
      await page.locator('.turn.assistant', { hasText: text }).waitFor();
    }
    expect(await page.locator('.turn').count()).toBe(4);
    expect(await recordOf(page)).toMatchObject({ account_id: accountId, key_hint: 'playground', outcome: 'answered' });
  });

  it('explains what went wrong, and changes the model', async () => {
    await using opened = await openWindow({ days: 0, options: { javaScriptEnabled: false } });
    const { page } = opened;
    await openPlayground(page);
    await page.getByLabel('Message').fill('Hello');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('No active pass.').waitFor();
    expect(await page.getByLabel('Message').inputValue()).toBe('Hello');
    await page.getByLabel('Model', { exact: true }).selectOption('dp/painter');
    await page.getByRole('button', { name: 'Use this model' }).click();
    await page.getByText('Makes images from a description.').waitFor();
    expect(await page.locator('main').innerText()).toContain('This form needs JavaScript.');
  });
});

const results = (page: Page) => page.locator('#results .answer').first();

describe('a model of another kind', () => {
  it('is not left in the form of the first one by going back', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page);
    const model = page.getByLabel('Model', { exact: true });
    await model.selectOption('dp/painter');
    await page.getByText('Makes images from a description.').waitFor();
    await page.goBack();
    await page.getByLabel('Message').waitFor();
    await expect.poll(() => model.inputValue(), patience).toBe('dp/demo');
    await send(page, 'Hello');
    await openLink(page).waitFor();
    expect(await answer(page).textContent()).toContain('dp/demo');
  });

  it('makes an image, which the page shows, and has its request as code', async () => {
    await using opened = await openWindow();
    const { page, window } = opened;
    await openPlayground(page);
    await page.getByLabel('Model', { exact: true }).selectOption('dp/painter');
    await page.getByText('Makes images from a description.').waitFor();
    await send(page, 'A cat', 'Description');
    await results(page).locator('img').waitFor();
    await expect
      .poll(() => page.evaluate(`document.querySelector('.made-image').naturalWidth`), patience)
      .toBeGreaterThan(0);
    expect(await page.locator('#sample-curl code').textContent()).toContain('/v1/images/generations');
    expect(window.complaints).toEqual([]);
  });

  it('compares texts, sorts documents, reads aloud, listens, and checks texts', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await openPlayground(page, 'dp/vectors');
    await send(page, 'one\ntwo', 'Texts, one a line');
    await results(page)
      .getByText(/^\d+ dimensions$/)
      .waitFor();
    expect(await results(page).locator('li').count()).toBe(2);
    await openPlayground(page, 'dp/sorter');
    await page.getByLabel('Documents, one a line').fill('red\nblue');
    await send(page, 'Which is blue?', 'Question');
    await results(page).getByText('blue').waitFor();
    await openPlayground(page, 'dp/speaker');
    await send(page, 'Hello', 'Text');
    await results(page).getByRole('link', { name: 'Save the MP3 file' }).waitFor();
    await openPlayground(page, 'dp/checker');
    await send(page, 'Hello', 'Text');
    await results(page)
      .getByText(/^(Not f|F)lagged$/)
      .waitFor();
    await openPlayground(page, 'dp/listener');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Choose a recording.').waitFor();
    await page
      .getByLabel('Recording')
      .setInputFiles({ name: 'a.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('ID3') });
    await page.getByRole('button', { name: 'Send' }).click();
    await results(page).locator('.turn-text').waitFor();
  });
});

describe('the pages', () => {
  it('of tools and the playground have no accessibility or console error in both languages and themes', async () => {
    await using opened = await openWindow();
    const { window, page } = opened;
    const audit = (to: string, options: AuditOptions = {}) => auditPage(window, gateway.url + to, options);
    const views = [{ language: 'en', theme: 'dark' }] as const;
    const talk = async () => {
      await page.locator('#message').fill('Hello');
      await page.locator('#send').click();
      await page.locator('a.open:not([hidden])').waitFor();
    };
    const wrong = [
      ...(await audit('/dashboard/connect?tool=cline&system=windows', { views, axeWidths: [1280] })),
      ...(await audit('/dashboard/connect?tool=cursor', { views, axeWidths: [360] })),
      ...(await audit('/dashboard/try', { prepare: talk })),
      ...(await audit('/dashboard/try?model=dp/painter', { views, axeWidths: [360] })),
    ];
    expect(wrong).toEqual([]);
    expect(await page.evaluate('globalThis.wasAttacked')).toBeUndefined();
  });

  it('filter models while a name is typed, and report when none matches', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await page.goto(`${gateway.url}/dashboard/models`);
    await page.getByLabel('Search models').fill('pain');
    await expect.poll(() => page.locator('tbody tr').count(), patience).toBe(1);
    // The stream of the page knows nothing of this search, and must not bring the other rows back.
    expect(await page.locator('#catalog').getAttribute('data-hold')).not.toBeNull();
    await page.getByLabel('Search models').fill('nothing of this');
    await page.getByText('No model matches.').waitFor();
    await page.getByRole('link', { name: 'Clear all' }).click();
    await expect.poll(() => page.locator('tbody tr').count(), patience).toBe(10);
  });

  it('lead from a row to the page of the model, whose code changes its language without a reload', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await page.goto(`${gateway.url}/dashboard/models?sort=-name`);
    expect(await page.getByRole('columnheader', { name: 'Model' }).getAttribute('aria-sort')).toBe('descending');
    await page.getByRole('link', { name: 'dp/down', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('rowheader', { name: 'Anthropic Messages' }).waitFor();
    await page.getByRole('link', { name: 'Python' }).click();
    await page.getByText('from openai import OpenAI').waitFor();
    expect(new URL(page.url()).search).toBe('');
  });

  it('of a model are found by an alias, and missing ones say so', async () => {
    await using opened = await openWindow();
    const { page } = opened;
    await page.goto(`${gateway.url}/dashboard/models/other`);
    expect(new URL(page.url()).pathname).toBe('/dashboard/models/dp/demo');
    const reply = await page.goto(`${gateway.url}/dashboard/models/dp/nothing`);
    expect(reply?.status()).toBe(404);
  });
});
