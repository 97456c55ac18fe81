import { afterAll, beforeAll, expect, it } from 'vitest';
import { findAccount } from '#core/business/accounts/accounts.ts';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import { deleteAccount } from '#core/business/accounts/deletion.ts';
import { exportForOwner } from '#core/business/accounts/owner-export.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { retention } from '../../../plugins/data-requests/job.ts';
import {
  answerRequest,
  findRequest,
  listAccountRequests,
  listRequests,
  recordRequest,
} from '../../../plugins/data-requests/requests.ts';
import { type ActionPage, describeActionPages } from '../../support/action-pages.ts';
import { runCommand } from '../../support/command-line.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts';
import { createOperatorToken } from '../../support/operator-token.ts';
import { type PageClient, signInAt } from '../../support/page-client.ts';

const operator = 'ops@example.com';
const path = '/account/data-requests';

let mail: TestMailServer;
let gateway: TestGateway;
let ops: PageClient;
let customer: PageClient;
const yaml = (section = 'data_requests: { enabled: true }') => `${yamlFor('http://127.0.0.1:9')}operators: [${operator}]
operator_api: { enabled: true }
mail: { smtp: "smtp://127.0.0.1:${mail.port}", from: shop@example.com }
${section}
`;
beforeAll(async () => {
  mail = await startMailServer();
  gateway = await startGateway({ yaml: yaml() });
  [ops, customer] = [await signIn(operator), await signIn('customer@example.com')];
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await mail?.[Symbol.asyncDispose]();
});

const signIn = (email: string) => signInAt(gateway.url, email);

async function idOf(email: string): Promise<string> {
  const [row] = await gateway.database.query<{ id: string }>('select id from account where email = ?', [email]);
  return row?.id ?? '';
}

const textOf = (html: string) => html.replace(/<svg[^]*?<\/svg>|<[^>]+>/g, ' ').replace(/\s+/g, ' ');

/** A person with an account, signed in. */
async function join(email: string) {
  const client = await signIn(email);
  return { client, id: await idOf(email) };
}

it('a customer asks on a page, an operator answers in time, and the customer reads it there and by mail', async () => {
  const { client, id } = await join('asks@example.com');
  const sent = await client.submit(path, path, { kind: 'correction', text: 'My name is <Ani>.' });
  expect(sent.location).toBe(`${path}?done=asked`);
  const [asked] = await listAccountRequests(gateway.database, id, 5);
  if (asked === undefined) throw new Error('no request');
  expect([asked.kind, asked.channel, asked.dueAt.getTime() - asked.receivedAt.getTime()]).toEqual([
    'correction',
    'page',
    72 * 3_600_000,
  ]);
  const overview = textOf((await ops.get('/operator')).text);
  expect(overview).toContain('Request about data');
  expect(overview).not.toContain('Ani');
  const answerPath = `/operator/data-requests/${asked.id}/answer`;
  expect(textOf((await ops.get(answerPath)).text)).toContain('My name is &lt;Ani&gt;.');
  const done = { outcome: 'done', answer: 'Your name is corrected.' };
  expect((await ops.submit(answerPath, answerPath, done)).location).toContain('/operator/data-requests?done=');
  expect(textOf((await client.get(path)).text)).toMatch(/Correct data Received .+ · Done .+ Your name is corrected\./);
  await expect
    .poll(() => mail.received.filter(({ to }) => to.includes('asks@example.com')).length, { timeout: 20_000 })
    .toBe(1);
  expect(mail.received.at(-1)?.raw).toContain('Your name is corrected.');
  expect((await ops.get(answerPath)).status).toBe(404);
  const keptPath = answerPath.replace('/answer', '');
  expect((await ops.get('/operator/data-requests')).text).toContain(`href="${keptPath}"`);
  expect(textOf((await ops.get(keptPath)).text)).toMatch(/My name is &lt;Ani&gt;\..+Done.+Your name is corrected\./);
  expect((await client.get(keptPath)).status).toBe(403);
  const [recorded] = await gateway.database.query<{ note: string | null }>(
    `select note from operator_action where action = 'data_request.answer' and subject = ?`,
    [id],
  );
  expect(recorded?.note).not.toContain('corrected');
});

it('a customer pauses the account: the key is refused, no mail is sent, nothing is deleted, and it is resumed', async () => {
  const { client, id } = await join('pauses@example.com');
  const form = `${path}/pause`;
  const [, key = ''] = /(dp-[\w-]{20,})/.exec((await client.submit('/account/key', '/account/key/show')).text) ?? [];
  const use = async () => {
    const reply = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    return [reply.status, await reply.text()] as const;
  };
  expect((await use())[0]).toBe(200);
  expect((await client.submit(path, form)).location).toBe(`${path}?done=paused`);
  await expect.poll(use, { timeout: 5_000 }).toEqual([403, expect.stringContaining('paused by its owner since')]);
  const paused = await findAccount(gateway.database, id);
  expect([paused.blockedAt, paused.pausedAt]).toEqual([expect.any(Date), expect.any(Date)]);
  expect(await listAccountRequests(gateway.database, id, 5)).toMatchObject([{ kind: 'limiting', outcome: 'done' }]);
  expect(await listRequests(gateway.database, 'open', 100)).not.toContainEqual(
    expect.objectContaining({ accountId: id }),
  );
  // It can still sign in, read and download.
  const again = await signIn('pauses@example.com');
  expect(textOf((await again.get('/dashboard')).text)).toContain('Your account is paused since');
  expect((await again.get('/account/data.json')).text).toContain('pauses@example.com');
  expect((await client.submit(path, `${path}/resume`)).location).toBe(`${path}?done=resumed`);
  expect(await findAccount(gateway.database, id)).toMatchObject({ blockedAt: undefined, pausedAt: undefined });
  await expect.poll(async () => (await use())[0], { timeout: 5_000 }).toBe(200);
});

it('a pause and its end are on record as the owner’s, and an end that changes nothing is not', async () => {
  const { client, id } = await join('records@example.com');
  await client.submit(path, `${path}/pause`);
  const { text } = await client.get(path);
  const token = /action="\/account\/data-requests\/resume">.*?value="([^"]+)"/s.exec(text)?.[1] ?? '';
  for (let times = 0; times < 2; times++)
    expect((await client.post(`${path}/resume`, { form_token: token })).location).toBe(`${path}?done=resumed`);
  const actions = await listActions(gateway.database, { subject: id, limit: 10 });
  expect(actions.map(({ action, operator: by, outcome }) => [action, by, outcome])).toEqual([
    ['account.resume', 'owner', 'done'],
    ['account.pause', 'owner', 'done'],
  ]);
  const story = textOf((await ops.get(`/operator/accounts/${id}`)).text);
  expect(story).toMatch(/Resumed the account.+Paused the account/);
});

it('a paused account is in a state of its own: in the list, by its filter, on its page and in the API', async () => {
  const { client, id } = await join('resting@example.com');
  await client.submit(path, `${path}/pause`);
  const account = ['--config', gateway.file, 'account'];
  const command = async (...words: readonly string[]) =>
    (await runCommand([...account, ...words], { DATABASE_URL: gateway.database.url })).out;
  expect(await command('list', '--state', 'paused')).toMatch(/resting@example\.com .*paused/);
  expect(await command('list', '--state', 'blocked')).not.toContain('resting@example.com');
  expect(await command('show', id)).toMatch(/^ *paused +\d{4}-/m);
  expect(await command('show', id)).not.toMatch(/^ *blocked +\d{4}-/m);
  const listed = (await ops.get('/operator/accounts?state=paused')).text;
  expect(listed).toContain(`/operator/accounts/${id}"`);
  expect(textOf(listed)).toMatch(/Ada dp-\S+ Paused —/);
  expect((await ops.get('/operator/accounts?state=blocked')).text).not.toContain(`/operator/accounts/${id}"`);
  expect((await ops.get(`/operator/accounts/${id}`)).text).toMatch(
    /class="status warn[^"]*">(?:<svg[^]*?<\/svg>)?\s*Paused/,
  );
  const api = await fetch(`${gateway.url}/operator/api/accounts?state=paused`, {
    headers: { authorization: `Bearer ${await createOperatorToken(gateway, 'read')}` },
  });
  const paused = expect.objectContaining({ id, state: 'paused' });
  expect(await api.json()).toMatchObject({ accounts: expect.arrayContaining([paused]) });
});

it('a paused account that an operator blocks cannot sign in, and its owner cannot resume it', async () => {
  const { client, id } = await join('blocked@example.com');
  await client.submit(path, `${path}/pause`);
  const { text } = await client.get(path);
  await blockAccount(gateway.database, id, 'abuse');
  const token = /action="\/account\/data-requests\/resume">.*?value="([^"]+)"/s.exec(text)?.[1] ?? '';
  expect((await client.post(`${path}/resume`, { form_token: token })).status).toBe(401);
  expect((await (await signIn('blocked@example.com')).get(path)).location).toContain('/sign-in');
  expect((await findAccount(gateway.database, id)).blockedAt).toBeDefined();
});

it('an operator sees that an account is paused by its owner, and can still block it on its page', async () => {
  const { client, id } = await join('evades@example.com');
  await client.submit(path, `${path}/pause`);
  const { text } = await ops.get(`/operator/accounts/${id}`);
  expect(textOf(text)).toContain('Its owner has paused it, and can resume it.');
  expect(textOf((await ops.get(`/operator/accounts/${id}`, { 'accept-language': 'id' })).text)).toContain(
    'Pemiliknya menjeda',
  );
  const offered = ['block', 'unblock', 'resume'].filter((verb) => text.includes(`/operator/accounts/${id}/${verb}"`));
  expect(offered).toEqual(['block', 'resume']);
});

it('an account is paused five times in a day at most', async () => {
  const { client } = await join('flickers@example.com');
  for (let count = 0; count < 5; count++) {
    expect((await client.submit(path, `${path}/pause`)).location).toBe(`${path}?done=paused`);
    expect((await client.submit(path, `${path}/resume`)).location).toBe(`${path}?done=resumed`);
  }
  const { status, text } = await client.submit(path, `${path}/pause`);
  expect([status, textOf(text)]).toEqual([422, expect.stringContaining('five times in a day')]);
});

it('a request to stop is answered as done for an account that its owner has paused meanwhile', async () => {
  const { client, id } = await join('twice@example.com');
  const { host } = gateway.gateway;
  const asked = await recordRequest(host, { kind: 'limiting', channel: 'mail', accountId: id, text: 'Stop.' });
  await client.submit(path, `${path}/pause`);
  await answerRequest(host, asked, { outcome: 'done', answer: 'It is paused.' });
  expect(await findRequest(gateway.database, asked)).toMatchObject({ outcome: 'done' });
});

it('an answer waits for the deletion of its account, and the deletion for the answer, in one order', async () => {
  const { id } = await join('both@example.com');
  const { host } = gateway.gateway;
  const asked = await recordRequest(host, { kind: 'limiting', channel: 'mail', accountId: id, text: 'Stop.' });
  await gateway.database.fork().transactional(async (transaction) => {
    await transaction.execute('select 1 from account where id = ? for update', [id]);
    const answered = answerRequest(host, asked, { outcome: 'done', answer: 'It is paused.' });
    await expect
      .poll(async () => {
        const [{ count } = { count: 0 }] = await gateway.database.query<{ count: number }>(
          `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return count;
      })
      .toBeGreaterThan(0);
    // What a deletion does next: it would wait for ever if the answer held the request.
    await transaction.execute(`set local lock_timeout = '2s'`);
    await transaction.execute('update data_request set text = null where account_id = ?', [id]);
    void answered.catch(() => undefined);
  });
  await expect.poll(async () => (await findRequest(gateway.database, asked))?.outcome).toBe('done');
});

it('what was written keeps its lines on pages and in the mail', async () => {
  const { client, id } = await join('lines@example.com');
  await client.submit(path, path, { kind: 'other', text: 'First.\r\nSecond.' });
  const [asked] = await listAccountRequests(gateway.database, id, 1);
  const answerPath = `/operator/data-requests/${asked?.id}/answer`;
  await ops.submit(answerPath, answerPath, { outcome: 'done', answer: 'Dear Ada,\r\n\r\nDone.' });
  await expect
    .poll(() => mail.received.filter(({ to }) => to.includes('lines@example.com')).length, { timeout: 20_000 })
    .toBe(1);
  expect(mail.received.at(-1)?.raw).toMatch(/<p>Dear Ada,<\/p>\s*<p>Done\.<\/p>/);
  expect((await client.get(path)).text).toMatch(/class="written">Dear Ada,\s+Done\.</);
});

it('a recorded request says whose it is', async () => {
  const { code, errors } = await daypass('record', '--kind', 'other', '--channel', 'mail', '--text', 'Hello?');
  expect([code, errors]).toEqual([2, expect.stringContaining('Say whose request it is')]);
});

it('five requests of an account wait at most', async () => {
  const { client } = await join('many@example.com');
  for (let count = 0; count < 5; count++) await client.submit(path, path, { kind: 'other', text: `No. ${count}` });
  const { status, text } = await client.submit(path, path, { kind: 'other', text: 'No. 5' });
  expect([status, text.includes('No. 5')]).toEqual([422, true]);
  expect(textOf(text)).toContain('Five of your requests are unanswered.');
});

it('a request to stop that came by chat pauses the account when it is answered', async () => {
  const { id } = await join('chat@example.com');
  const words = ['--kind', 'limiting', '--channel', 'chat', '--account', 'chat@example.com', '--text', 'Stop.'];
  const { code, out } = await daypass('record', ...words, '--received', '2026-11-01T08:00+07:00');
  expect([code, out]).toEqual([0, expect.stringContaining('request')]);
  const [asked] = await listAccountRequests(gateway.database, id, 5);
  if (asked === undefined) throw new Error('no request');
  expect(asked.dueAt.toISOString()).toBe('2026-11-04T01:00:00.000Z');
  expect((await daypass('list', '--state', 'open')).out).toMatch(/limiting +chat .+ late/);
  expect(JSON.parse((await daypass('list', '--json')).out)).toMatchObject({ total: expect.any(Number) });
  const api = await fetch(`${gateway.url}/operator/api/data_requests/${asked.id}/answer`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await createOperatorToken(gateway, 'act')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ outcome: 'done', answer: 'Paused.' }),
  });
  expect(api.status).toBe(200);
  expect((await findAccount(gateway.database, id)).pausedAt).toBeDefined();
  const again = await daypass('answer', asked.id, '--outcome', 'rejected', '--answer', 'No.');
  expect([again.code, again.errors]).toEqual([1, expect.stringContaining('already been answered')]);
});

const daypass = (...words: readonly string[]) =>
  runCommand(['--config', gateway.file, 'data-request', ...words], { DATABASE_URL: gateway.database.url });

it('a deleted account leaves kind and times of its requests, and nothing that was written', async () => {
  const { client, id } = await join('leaves@example.com');
  await client.submit(path, path, { kind: 'other', text: 'What do you know of me?' });
  let own = '';
  for await (const line of exportForOwner(gateway.database, id)) own += line;
  expect(own).toContain('What do you know of me?');
  await deleteAccount(gateway.database, id);
  const [left] = await listAccountRequests(gateway.database, id, 5);
  expect(left).toMatchObject({ kind: 'other', text: undefined, answer: undefined });
  // What is written later would outlast the removal of what is personal.
  const { errors } = await daypass(
    'record',
    '--kind',
    'access',
    '--channel',
    'mail',
    '--account',
    id,
    '--text',
    'I am Ada.',
  );
  expect(errors).toContain('The account is deleted');
  expect(await listAccountRequests(gateway.database, id, 5)).toHaveLength(1);
});

it('answered requests are deleted years after their answer, open ones never', async () => {
  const { host } = gateway.gateway;
  const make = () => recordRequest(host, { kind: 'other', channel: 'mail', accountId: undefined, person: 'Budi' });
  const [old, recent, open] = [await make(), await make(), await make()];
  const age = (id: string, years: number) =>
    gateway.database.query(
      `update data_request set answered_at = now() - make_interval(years => ?), outcome = 'done', answer = 'x' where id = ?`,
      [years, id],
    );
  await age(old, 7);
  await age(recent, 4);
  await retention.run({}, host as never);
  expect(await Promise.all([old, recent, open].map((id) => findRequest(gateway.database, id)))).toEqual([
    undefined,
    expect.anything(),
    expect.anything(),
  ]);
});

const mailed = { kind: 'correction', channel: 'mail', received: '2026-11-20T08:00', account: 'customer@example.com' };
const recorded = async () =>
  (await listAccountRequests(gateway.database, await idOf('customer@example.com'), 50)).length;
const pages: readonly ActionPage[] = [
  {
    path: '/operator/data-requests/new',
    action: 'data_request.record',
    async subject() {
      await gateway.database.query('delete from data_request where account_id = ?', [
        await idOf('customer@example.com'),
      ]);
      return { path: '/operator/data-requests/new', id: 'data_requests', state: recorded };
    },
    wrong: [
      [{ ...mailed, account: 'nobody@example.com' }, 'This gateway has no such account.'],
      [{ ...mailed, received: '2040-01-01T00:00' }, 'Cannot be in the future.'],
      [{ ...mailed, kind: 'page' }, 'Check this field.'],
      [{ ...mailed, account: '' }, 'Say whose request it is.'],
      [{ ...mailed, text: 'Bell\u0007' }, 'Something in the form is missing or not allowed.'],
    ],
    right: { ...mailed, text: 'Secret words.' },
    does: [0, 1],
    note: expect.not.stringContaining('Secret'),
  },
  {
    path: '/operator/data-requests/{id}/answer',
    action: 'data_request.answer',
    async subject() {
      const { host } = gateway.gateway;
      const id = await recordRequest(host, { kind: 'access', channel: 'mail', accountId: undefined, person: 'Budi' });
      return {
        path: `/operator/data-requests/${id}/answer`,
        id: 'data_requests',
        state: async () => (await findRequest(gateway.database, id))?.outcome,
      };
    },
    wrong: [[{ outcome: 'done', answer: ' ' }, 'Fill in this field.']],
    right: { outcome: 'rejected', answer: 'Who are you?', note: 'no proof of identity' },
    does: [undefined, 'rejected'],
    note: expect.stringContaining('no proof of identity'),
  },
];
describeActionPages(pages, () => ({ gateway, ops, customer, operator, reason: 'no proof of identity' }));

it('where it is off, customers have no page of it, and a paused account can be resumed all the same', async () => {
  const { client, id } = await join('off@example.com');
  await client.submit(path, `${path}/pause`);
  await gateway.write(yaml(''));
  await gateway.gateway.reload();
  expect((await customer.get(path)).status).toBe(404);
  expect((await customer.get('/account')).text).not.toContain(path);
  const { host } = gateway.gateway;
  await recordRequest(host, { kind: 'access', channel: 'mail', accountId: undefined, person: 'Budi' });
  expect(textOf((await ops.get('/operator')).text)).toContain('Request about data');
  expect((await client.get(path)).status).toBe(200);
  await client.submit(path, `${path}/resume`);
  expect((await findAccount(gateway.database, id)).blockedAt).toBeUndefined();
});
