import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { ConfigHistory } from '#core/config/history/history.ts';
import { createLogger } from '#core/platform/logger.ts';
import { Canaries } from '../../plugins/canary/record/canaries.ts';
import { runCommand } from '../support/command-line.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { createOperatorToken } from '../support/operator-token.ts';
import { PageClient } from '../support/page-client.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** What `gateway.write` puts in front. */
const listen = 'listen: { port: 0, notice_period: 0, drain_timeout: 5 }';
const accountCount = 40;

let gate = Promise.withResolvers<void>();
/** Both name themselves; the new one may fail, and a stream waits for the gate before it ends. */
const upstreamOf = (name: string, fails = () => false) =>
  createUpstream(
    async (request, response) => {
      if (fails()) return response.json(500, { error: { message: 'broken' } });
      if (request.json<{ stream?: boolean }>().stream !== true) {
        const message = { role: 'assistant', content: name };
        return response.json(200, { choices: [{ index: 0, finish_reason: 'stop', message }] });
      }
      response.sse({ choices: [{ index: 0, delta: { role: 'assistant', content: name } }] });
      await gate.promise;
      await response.event({ choices: [{ index: 0, delta: { content: ' to the end' } }] });
      await response.event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
      await response.event('[DONE]');
      response.end();
    },
    { keeps: false },
  );

const yamlFor = (baseUrl: string, more = '') => `
operators: [ops@example.com]
operator_api: { enabled: true }
pipeline: [auth, plan, format, { upstream: { breaker: { failures: 3, cooldown: 300 } } }, log]
upstreams: { one: { format: chat, base_url: "${baseUrl}/v1", api_keys: [sk-one] } }
models: { test: { routes: [one/model-there] } }
${more}`;

let before: FaultyUpstream;
let after: FaultyUpstream;
let isFailing = false;
let gateway: TestGateway;
let canaries: Canaries;
let history: ConfigHistory;
let keys: string[];
const lines: string[] = [];

beforeAll(async () => {
  before = await upstreamOf('before');
  after = await upstreamOf('after', () => isFailing);
  gateway = await startGateway({ yaml: yamlFor(before.url), log: createLogger((line) => void lines.push(line)) });
  canaries = new Canaries(gateway.database, { record: () => Promise.resolve() });
  history = new ConfigHistory(gateway.database, { sections: new Map(), stages: new Map() });
  const period = { days: 1, reason: 'grant', label: 'test' } as const;
  keys = [];
  for (let index = 0; index < accountCount; index++)
    keys.push((await createAccount(gateway.database, 'dp', { name: `Account ${index}`, period })).key);
});
afterAll(async () => {
  await Promise.allSettled([gateway, before, after].map((part) => part?.[Symbol.asyncDispose]()));
});
beforeEach(async () => {
  gate = Promise.withResolvers();
  await next(yamlFor(after.url));
});
afterEach(async () => {
  gate.resolve();
  isFailing = false;
  const running = await canaries.findRunning();
  if (running !== undefined) await canaries.end(running.id, 'ended', 'the test is over');
  await history.release();
  await everybodyGets(['before']);
});

const command = async (...words: string[]) => {
  const { code, out, errors } = await runCommand(['--config', gateway.file, ...words], {
    DATABASE_URL: gateway.database.url,
  });
  if (code !== 0) throw new Error(errors);
  return out;
};
const next = (yaml: string) => writeFile(join(gateway.folder, 'next.yaml'), `${listen}\n${yaml}`);
const canary = (share: string, ...more: string[]) =>
  command('reload', join(gateway.folder, 'next.yaml'), '--canary', share, ...more);
const call = (key: string, stream = false) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'dp/test', stream, messages: [{ role: 'user', content: 'hi' }] }),
  });
/** Which upstream an account is served by, or the status. */
const servedBy = async (key: string) => {
  const response = await call(key);
  const { choices } = (await response.json()) as { choices?: { message: { content: string } }[] };
  return choices?.[0]?.message.content ?? `${response.status}`;
};
const sides = () => Promise.all(keys.map(servedBy));
const everybodyGets = (names: readonly string[]) =>
  expect.poll(async () => [...new Set(await sides())].toSorted(), { timeout: 20_000, interval: 150 }).toEqual(names);

it('a canary serves a share of the accounts, always the same ones, and records say which', async () => {
  const begun = await canary('30%');
  expect(begun).toMatch(/canary \d+ of .* serves 30% of the accounts, until .*: not compared yet/);
  await everybodyGets(['after', 'before']);
  const first = await sides();
  expect(await sides()).toEqual(first);
  const count = first.filter((side) => side === 'after').length;
  expect(count).toBeGreaterThan(2);
  expect(count).toBeLessThan(25);
  const [, taken] = /It takes (\d+) of 41 active accounts\.$/m.exec(begun) ?? [];
  // The demo account may be in it.
  expect([count, count + 1]).toContain(Number(taken));
  const [running] = await canaries.list(1);
  const recorded = () =>
    gateway.database.query<{ accounts: number }>(
      'select count(distinct account_id)::integer as accounts from request_log where canary = ?',
      [running?.id],
    );
  await expect.poll(recorded, { timeout: 20_000 }).toEqual([{ accounts: count }]);
});

it('streams finish where they began, when a canary begins and when it ends', async () => {
  const key = keys[0] ?? '';
  const old = await call(key, true);
  await canary('99.99%');
  await everybodyGets(['after']);
  const young = await call(key, true);
  expect(await command('rollback')).toBe('The canary has ended.\n');
  await everybodyGets(['before']);
  gate.resolve();
  const texts = await Promise.all([old.text(), young.text()]);
  expect(texts.map((text) => /"content":"(\w+)"/.exec(text)?.[1])).toEqual(['before', 'after']);
  for (const text of texts) expect(text).toContain(' to the end');
});

it('a canary that fails opens no breaker of the others, and uses up none of their keys', async () => {
  isFailing = true;
  await canary('50%');
  await everybodyGets(['502', 'before'].toSorted());
  for (let round = 0; round < 3; round++) {
    const seen = new Set(await sides());
    seen.delete('503');
    expect([...seen].every((side) => ['502', 'before'].includes(side))).toBe(true);
    expect(seen.has('before')).toBe(true);
  }
  const { body } = await fetch(`${gateway.operatorUrl}/metrics`);
  expect(await new Response(body).text()).toMatch(/route_state\{[^}]*one\/model-there[^}]*\} 0/);
});

it('a canary that becomes full serves everybody, as the newest configuration, until the file changes', async () => {
  await canary('50%', '--note', 'new vendor');
  await everybodyGets(['after', 'before']);
  expect(await command('reload', '--full')).toMatch(
    /now serves all accounts\ngateway.yaml still has the old configuration/,
  );
  await everybodyGets(['after']);
  expect(await command('history')).toMatch(
    /canary \d+ of .* was promoted: configuration \d+ serves until the file changes/,
  );
  expect(gateway.gateway.notices.join()).toMatch(/is behind: canary \d+ of .* has served all accounts since/);
  await command('rollback', '--release');
  await everybodyGets(['before']);
});

it('what the process has once cannot be tried, and the command names it', async () => {
  await next(yamlFor(after.url, 'service: { name: Other }\nsales: { max_active: 3 }'));
  await expect(canary('50%')).rejects.toThrow(/`service` and `sales` differ, but are shared by the whole process/);
  await next(yamlFor(after.url).replace('failures: 3', 'failures: 4'));
  await expect(canary('50%')).rejects.toThrow(/cannot serve it: `pipeline.upstream.breaker` differs/);
  await next(yamlFor(after.url).replace('sk-one', 'sk-two'));
  await expect(canary('50%')).rejects.toThrow(/the canary has a secret in line \d+ that .* does not have/);
  await expect(command('reload', '--canary', '50%')).rejects.toThrow(/gateway.yaml is already being served/);
  await expect(canary('100%')).rejects.toThrow(/share of the accounts from 0.01% to 99.99%/);
  await everybodyGets(['before']);
});

/** What the command says, whether or not it begins a canary. */
const tryCanary = (share: string) => canary(share).then(String, (error: Error) => error.message);

it('a canary in which no active account would be is refused at once', async () => {
  let outcome = await tryCanary('0.01%');
  // One draw in 250 has an account of these.
  for (let running = await canaries.findRunning(); running !== undefined; running = await canaries.findRunning()) {
    await canaries.end(running.id, 'ended', 'an account was drawn');
    outcome = await tryCanary('0.01%');
  }
  expect(outcome).toMatch(/Nothing has changed: none of the 41 active accounts is among the 0.01% that were drawn/);
});

it('a second canary is refused while one runs', async () => {
  await canary('50%');
  await expect(canary('10%')).rejects.toThrow(/Nothing has changed: canary \d+ .* serves 50%.*before the next one/);
});

it('the page shows the canary, and takes it back', async () => {
  await canary('50%');
  await everybodyGets(['after', 'before']);
  const [running] = await canaries.list(1);
  const operator = new PageClient(gateway.url);
  await operator.submit('/sign-in', '/sign-in', { name: 'Ops', email: 'ops@example.com' });
  const path = '/operator/configuration/canary';
  const begun = `Canary ${running?.id}, begun by`;
  expect((await operator.get('/operator/configuration')).text).toContain(begun);
  expect((await operator.get(path)).text).toContain(begun);
  expect(await operator.submit(path, path, { number: `${running?.id}`, to: 'end' })).toMatchObject({ status: 303 });
  await everybodyGets(['before']);
  expect((await canaries.list(1))[0]?.end).toMatchObject({ reason: 'rolled back by ops@example.com' });
  const [action] = await listActions(gateway.database, { subject: 'configuration', limit: 1 });
  expect(action).toMatchObject({
    action: 'configuration.canary_end',
    operator: 'ops@example.com',
    details: { number: running?.id },
    outcome: 'done',
  });
});

const newToken = (scope: 'read' | 'act') => createOperatorToken(gateway, scope);

it('the operator API begins a canary, reads it, serves it to everybody and takes it back, and rolls back and forth', async () => {
  const tokens = { read: await newToken('read'), act: await newToken('act') };
  const api = async (scope: 'read' | 'act', path: string, body?: object) => {
    const response = await fetch(`${gateway.url}/operator/api${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${tokens[scope]}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  const begin = { file: 'next.yaml', share: '50%', note: 'new vendor' };
  expect(await api('read', '/configuration/canary-begin', begin)).toMatchObject({ status: 403 });
  expect(await api('act', '/configuration/canary-begin', { ...begin, file: '../next.yaml' })).toMatchObject({
    status: 400,
  });
  expect(await api('act', '/configuration/canary-begin', { ...begin, file: 'gateway.yaml' })).toMatchObject({
    status: 409,
    json: { error: { code: 'refused', message: expect.stringContaining('gateway.yaml is already being served') } },
  });
  const begun = await api('act', '/configuration/canary-begin', begin);
  expect(begun).toMatchObject({ status: 200, json: { accounts: { active: accountCount + 1 } } });
  const number = begun.json['number'];
  await everybodyGets(['after', 'before']);
  const { json } = await api('read', '/configuration');
  expect(json).toMatchObject({
    in_place_of_file: null,
    canary: { number, share: 0.5, operator: expect.stringMatching(/^api \(act /), note: 'new vendor', end: null },
  });
  expect(JSON.stringify(json)).not.toMatch(/salt|base_url/);
  expect(await api('act', '/configuration/canary-end', { number })).toMatchObject({ status: 200 });
  await everybodyGets(['before']);
  expect(await api('act', '/configuration/canary-full', { number })).toMatchObject({ status: 409 });

  const second = await api('act', '/configuration/canary-begin', begin);
  expect(await api('act', '/configuration/canary-full', { number: second.json['number'] })).toMatchObject({
    status: 200,
  });
  await everybodyGets(['after']);
  const full = (await api('read', '/configuration')).json;
  expect(full).toMatchObject({
    in_place_of_file: { canary: second.json['number'] },
    canary: { end: { outcome: 'full', reason: expect.stringMatching(/^by api \(act /) } },
  });

  expect(await api('act', '/configuration/release', { note: 'too early' })).toMatchObject({ status: 200 });
  await everybodyGets(['before']);
  expect(await api('act', '/configuration/release', {})).toMatchObject({ status: 409 });
  const { configuration } = full['in_place_of_file'] as { configuration: number };
  const back = { configuration, note: 'it was right' };
  expect(await api('read', '/configuration/rollback', back)).toMatchObject({ status: 403 });
  expect(await api('act', '/configuration/rollback', back)).toMatchObject({ status: 200 });
  await everybodyGets(['after']);
  const [recorded] = await listActions(gateway.database, { subject: 'configuration', limit: 1 });
  expect(recorded).toMatchObject({
    action: 'configuration.rollback',
    details: { configuration },
    note: 'it was right',
  });
});

it('a file that changes ends the canary, and serves everybody', async () => {
  await canary('50%');
  await everybodyGets(['after', 'before']);
  await gateway.write(`${yamlFor(before.url)}\n# changed`);
  await gateway.gateway.reload();
  await everybodyGets(['before']);
  expect((await canaries.list(1))[0]?.end).toMatchObject({
    outcome: 'ended',
    reason: expect.stringMatching(/gateway.yaml has changed/),
  });
  expect(lines.join('\n')).toMatch(/canary \d+ has ended: gateway.yaml has changed or was rolled back/);
});

it('a canary of which nothing works is rolled back automatically before there are enough requests for a comparison', async () => {
  isFailing = true;
  await canary('50%');
  await everybodyGets(['502', 'before'].toSorted());
  await everybodyGets(['before']);
  expect(await command('reload', '--status')).toMatch(
    /canary \d+ was worse and has been rolled back automatically: not one request worked: \d+ of \d+ of \d+ accounts .*, against 0 of \d+/,
  );
  const { body } = await fetch(`${gateway.operatorUrl}/metrics`);
  expect(await new Response(body).text()).toMatch(/config_canary_taken_back 1/);
});
