import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAccountByHandle, listAccounts } from '#core/business/accounts/account-list.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { answers } from '../plugins/upstream/streams-fixture.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** Bodies that arrived, by path. */
const arrived = new Map<string, string>();
const serve: Handler = ({ path, body }, response) => {
  arrived.set(path, body.toString());
  if (path.includes('count_tokens')) return response.json(200, { input_tokens: 3 });
  if (path.includes('embeddings')) return response.json(200, { data: [{ embedding: [1] }] });
  if (path.includes('images')) return response.json(200, { data: [{ b64_json: 'AA==' }] });
  const format = path.includes('/messages') ? 'messages' : path.includes('/responses') ? 'responses' : 'chat';
  return response.json(200, answers[format].whole);
};

let upstream: FaultyUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await createUpstream(serve);
  const at = (name: string, more: string) =>
    `  ${name}: { base_url: "${upstream.url}/${name}", api_keys: [k], ${more} }`;
  gateway = await startGateway({
    yaml: `
pipeline: [auth, format, upstream, log]
upstreams:
${at('openai', 'vendor: openai, end_user: hash')}
${at('claude', 'vendor: anthropic, end_user: hash')}
${at('plain', 'format: [chat, embeddings, images], end_user: hash')}
${at('mistral', 'vendor: mistral, end_user: hash')}
${at('free', 'format: chat')}
${at('apart', 'format: [chat, embeddings], cache_isolation: account')}
${at('apart-claude', 'vendor: anthropic, cache_isolation: account')}
${at('apart-deepseek', 'vendor: deepseek, cache_isolation: account')}
${['east', 'west'].map((name) => at(name, 'format: chat').replace('[k]', '[k1, k2]')).join('\n')}
models:
  gpt: { routes: [openai/gpt-6-sol] }
  claude: { routes: [claude/claude-sonnet-5-5] }
  other: { routes: [plain/other] }
  mistral: { routes: [mistral/mistral-large-latest] }
  free: { routes: [free/free] }
  apart: { routes: [apart/apart] }
  apart-vectors: { kind: embedding, routes: [apart/vectors] }
  apart-claude: { routes: [apart-claude/claude-sonnet-5-5] }
  apart-deepseek: { routes: [apart-deepseek/deepseek-flash] }
  spread: { routes: [{ to: east/spread, priority: 0 }, { to: west/spread, priority: 0 }] }
  vectors: { kind: embedding, routes: [plain/vectors] }
  painter: { kind: image, routes: [plain/painter] }
`,
  });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

const authorization = () => `Bearer ${gateway.key}`;
/** Sends a request. @returns what arrived at the upstream, and the notes */
async function send(path: string, body: JsonObject | FormData) {
  arrived.clear();
  const isForm = body instanceof FormData;
  const headers = { authorization: authorization(), ...(!isForm && { 'content-type': 'application/json' }) };
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers,
    body: isForm ? body : JSON.stringify(body),
  });
  await answer.arrayBuffer();
  expect(answer.status).toBe(200);
  const [sent = ''] = arrived.values();
  return {
    sent: isForm ? {} : (JSON.parse(sent) as JsonObject),
    text: sent,
    notes: answer.headers.get('x-daypass-notes'),
  };
}
const messages = [{ role: 'user', content: 'hi' }];
const chat = (model: string, more: JsonObject = {}) => send('/v1/chat/completions', { model, messages, ...more });
const ask = (model: string, more: JsonObject = {}) => send('/v1/messages', { model, messages, max_tokens: 9, ...more });
const hash = /^[\da-f]{64}$/;

describe('an upstream with end_user: hash', () => {
  it('of OpenAI gets the account as safety_identifier, instead of the value from the client', async () => {
    const { sent, notes } = await chat('gpt', { user: 'me', safety_identifier: 'someone' });
    expect(sent).toMatchObject({ safety_identifier: expect.stringMatching(hash) });
    expect(sent).not.toHaveProperty('user');
    expect(notes).toBe(
      'approximated user as a hash of the account; approximated safety_identifier as a hash of the account',
    );
  });

  it('of Anthropic gets it as metadata.user_id, also from a client of another format', async () => {
    const { sent } = await ask('claude', { metadata: { user_id: 'me' } });
    expect(sent['metadata']).toEqual({ user_id: expect.stringMatching(hash) });
    const translated = await chat('claude', { user: 'me' });
    expect(translated.sent['metadata']).toEqual(sent['metadata']);
    expect(translated.notes).toContain('as a hash of the account');
  });

  it('of another vendor gets it as the user, also where the client names none, without a note', async () => {
    const { sent, notes } = await chat('other');
    expect(sent).toMatchObject({ user: expect.stringMatching(hash) });
    expect(notes).toBeNull();
  });

  it('that takes no end user gets none', async () => {
    expect((await chat('mistral', { user: 'me' })).sent).not.toHaveProperty('user');
  });

  it('gets it with texts to embed, and with images as JSON and as a form', async () => {
    const id = (await chat('other')).sent['user'];
    expect((await send('/v1/embeddings', { model: 'vectors', input: 'hi', user: 'me' })).sent['user']).toBe(id);
    expect((await send('/v1/images/generations', { model: 'painter', prompt: 'hi' })).sent['user']).toBe(id);
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: 'painter', prompt: 'hi', user: 'me' })) form.set(name, value);
    form.set('image', new Blob(['x']), 'a.png');
    const { text } = await send('/v1/images/edits', form);
    expect(text).toContain(`name="user"\r\n\r\n${String(id)}\r\n`);
    expect(text).not.toContain('\r\n\r\nme\r\n');
  });

  it('counts tokens without naming a user: the counting endpoint takes no metadata', async () => {
    const { sent } = await send('/v1/messages/count_tokens', { model: 'claude', messages });
    expect(sent).not.toHaveProperty('metadata');
  });

  it('names the same account each time, which is found by that id, and by no other', async () => {
    const { sent } = await chat('gpt');
    const id = String(sent['safety_identifier']);
    expect((await chat('gpt')).sent['safety_identifier']).toBe(id);
    expect((await findAccountByHandle(gateway.gateway.host, id.toUpperCase())).id).toBe(gateway.accountId);
    const found = (words: string) => listAccounts(gateway.database, { words, limit: 9 });
    expect((await found(id)).map(({ id: account }) => account)).toEqual([gateway.accountId]);
    expect(await found(`${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`)).toEqual([]);
  });
});

it('an upstream without it gets what the client says', async () => {
  expect((await chat('free', { user: 'me' })).sent['user']).toBe('me');
  expect((await chat('free')).sent).not.toHaveProperty('user');
});

/** Route and key that got each turn of a conversation, whose body becomes longer than what is parsed whole. */
async function placesOf(question: string): Promise<string[]> {
  const before = upstream.requests.length;
  for (let turn = 0; turn < 12; turn++) {
    const said = Array.from({ length: turn }, (_, at) => [
      { role: 'assistant', content: `${at} `.repeat(1_000) },
      { role: 'user', content: `and ${at}?` },
    ]).flat();
    const first = { role: 'user', content: `${question}. `.repeat(40) };
    await chat('spread', { messages: [{ role: 'system', content: `It is ${turn}:00.` }, first, ...said] });
  }
  const added = upstream.requests.slice(before);
  return added.map(({ path, headers }) => `${path} ${String(headers['authorization'])}`);
}

it('a conversation whose client names no session stays with one route and key, by a secret of the gateway', async () => {
  const places: Set<string>[] = [];
  for (let index = 0; index < 8; index++) places.push(new Set(await placesOf(`question ${index}`)));
  expect(places.map(({ size }) => size)).toEqual(Array.from({ length: 8 }, () => 1));
  expect(new Set(places.flatMap((seen) => [...seen])).size).toBeGreaterThan(1);
});

describe('an upstream with cache_isolation: account', () => {
  const note = 'separated the prompt cache by account';
  const mark = /^\[[\w-]{16}\]$/;

  it('gets prompts that begin with a mark of the account, the same in each format and turn, with a note', async () => {
    const { sent, notes } = await chat('apart');
    const [system, user] = sent['messages'] as JsonObject[];
    expect(system).toEqual({ role: 'system', content: expect.stringMatching(mark) });
    expect(user).toEqual(messages[0]);
    expect(notes).toBe(note);
    expect(sent).not.toHaveProperty('user');
    const own = await ask('apart-claude', { system: 'S' });
    expect(own.sent['system']).toBe(`${String(system?.['content'])}\nS`);
    const translated = await chat('apart-claude', { messages: [{ role: 'system', content: 'S' }, ...messages] });
    expect(JSON.stringify(translated.sent['system'])).toContain(String(system?.['content']));
    expect(translated.notes).toContain(note);
  });

  it('that keeps caches apart by itself gets only the account', async () => {
    const { sent, notes } = await chat('apart-deepseek', { user_id: 'of the customer' });
    expect(sent).toMatchObject({ messages, user_id: expect.stringMatching(/^[\w-]{16}$/) });
    expect(notes).toContain(note);
  });

  it('gets texts to embed as they are: they have no prompt cache', async () => {
    const { sent, notes } = await send('/v1/embeddings', { model: 'apart-vectors', input: 'hi' });
    expect(sent).toMatchObject({ input: 'hi' });
    expect(notes).toBeNull();
  });
});
