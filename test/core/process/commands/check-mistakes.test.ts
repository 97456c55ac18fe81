import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkUrl } from '#core/platform/database/open.ts';
import { createListenRefusal } from '#core/platform/errors/start-refused.ts';
import { exitCodeOf } from '#core/platform/exit-codes.ts';
import { parseRedisUrl } from '#core/platform/shared/redis-url.ts';
import { openProcessLog } from '#core/process/process-log.ts';
import { type EndedCommand, runCommand } from '../../../support/command-line.ts';

// Mistakes that operators made, and that were accepted or explained by something else.

const valid = `pipeline: [auth, plan, format, upstream, log]
upstreams: { one: { format: chat, base_url: "http://one.test/v1", api_keys: [k] } }
models: { test: { routes: [one/a] } }
`;

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-check-'));
  file = join(folder, 'gateway.yaml');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function check(yaml: string, environment: Readonly<Record<string, string>> = {}): Promise<EndedCommand> {
  await writeFile(file, yaml);
  const { code, out, errors } = await runCommand(['--config', file, 'check'], environment);
  return { code, out: out.replaceAll(folder, ''), errors: errors.replaceAll(folder, '') };
}

/** What is wrong with a valid file and more lines above it. */
async function mistakeIn(lines: string): Promise<string> {
  const { code, errors } = await check(`${lines}\n${valid}`);
  expect(code).toBe(78);
  return errors.trimEnd();
}

const isList = (yaml: string) => yaml.replace('[one/a]', 'one/a');

describe('daypass check refuses', () => {
  it.each([
    [
      'a provider of sign-ins that lacks an address',
      'sign_in: { okta: { client_id: a, client_secret: b } }',
      'gateway.yaml:1:12 sign_in.okta.config.uri: is missing; add config: { uri: https://id.example.com } with the address of your organization',
    ],
    [
      'an address of a provider that is no URL',
      'sign_in: { okta: { client_id: a, client_secret: b, config: { uri: id } } }',
      'gateway.yaml:1:67 sign_in.okta.config.uri: is not a URL; use one such as https://id.example.com',
    ],
    [
      'a domain of a provider that is a URL',
      'sign_in: { auth0: { client_id: a, client_secret: b, config: { domain: "https://x.auth0.com" } } }',
      'gateway.yaml:1:71 sign_in.auth0.config.domain: is not a host name; use one such as example.auth0.com',
    ],
    [
      'what a provider does not take',
      'sign_in: { stripe: { client_id: a, client_secret: b, config: { expres: "true" } } }',
      'gateway.yaml:1:64 sign_in.stripe.config.expres: is not a known key; did you mean "express"?',
    ],
    [
      'a misspelled provider of sign-ins, at its name',
      'sign_in:\n  githib: { client_id: a, client_secret: b }',
      'gateway.yaml:2:3 sign_in.githib: is not a known provider; did you mean "github"?',
    ],
    [
      'an alias that is a regular expression',
      'aliases: { "gpt-.*": test }',
      'gateway.yaml:1:12 aliases.gpt-.*: looks like a regular expression, and would match only these characters; write a pattern in which * stands for any characters, such as "gpt-*"',
    ],
    [
      'a variable in the notation of JavaScript',
      'mail: { smtp: process.env.SMTP, from: a@b.test }',
      'gateway.yaml:1:15 mail.smtp: uses the variable syntax of a programming language; write "${SMTP}"',
    ],
    [
      'a variable in the notation of Python',
      `mail: { smtp: 'os.environ["SMTP"]', from: a@b.test }`,
      'gateway.yaml:1:15 mail.smtp: uses the variable syntax of a programming language; write "${SMTP}"',
    ],
    [
      'a section at the top that belongs under another',
      'smtp: "smtps://a:b@mail.test:465"',
      'gateway.yaml:1:1 smtp: is not a known key; write it under "mail"',
    ],
    [
      'a database',
      'database: { url: "postgres://a" }',
      'gateway.yaml:1:1 database: is not a known key; set the environment variable DATABASE_URL',
    ],
    [
      'a Redis',
      'redis_url: "redis://a"',
      'gateway.yaml:1:1 redis_url: is not a known key; set the environment variable REDIS_URL',
    ],
    [
      'a comment as in JavaScript',
      '// what we sell\ncurrency: IDR',
      'gateway.yaml:1:1: has //, which does not begin a comment in YAML; begin comments with #',
    ],
    [
      'a comment as in JavaScript below a key',
      'currency: IDR\n// what we sell',
      'gateway.yaml:2:1: has //, which does not begin a comment in YAML; begin comments with #',
    ],
    [
      'a comment as in JavaScript behind a value',
      'currency: IDR // rupiah',
      'gateway.yaml:1:15 currency: has //, which does not begin a comment in YAML; begin comments with #, or put the value in quotes',
    ],
    [
      'a path of Windows in double quotes',
      String.raw`data: { folder: "C:\xampp" }`,
      String.raw`gateway.yaml:1:20: has a backslash in double quotes, where it begins an escape sequence; put the value in single quotes, or write \\ for each backslash`,
    ],
  ])('%s', async (_what, lines, mistake) => {
    expect(await mistakeIn(lines)).toBe(mistake);
  });

  it('the same key of an upstream twice, without showing it', async () => {
    const { errors } = await check(valid.replace('[k]', '[sk-secret, "", "", sk-secret]'));
    expect(errors).toBe(
      'gateway.yaml:2:97 upstreams.one.api_keys[3]: is the same key as api_keys[0]; keep one of them\n',
    );
  });

  it('a value in place of a list, and shows the list', async () => {
    const { errors } = await check(isList(valid));
    expect(errors).toContain('models.test.routes: is "one/a"; must be a list: write ["one/a"]');
  });

  it('a map in place of a list, and shows how entries begin', async () => {
    expect(await mistakeIn('plans: { days: 1, price: 18000 }')).toContain('must be a list: begin each entry with "- "');
  });

  it('a secret in place of a list without showing it', async () => {
    const { errors } = await check(valid.replace('[k]', 'sk-secret'));
    expect(errors).toContain('is a string; must be a list: put brackets around it');
  });

  it('a missing pipeline, and lists stages in an order that it accepts', async () => {
    const { errors } = await check(valid.replace(/^pipeline.*\n/, ''));
    const order = /such as: (.*)$/m.exec(errors)?.[1];
    expect(order).toBe('auth, plan, rate-limit, cache, format, upstream, log');
    expect((await check(valid.replace(/\[auth.*\]/, `[${order}]`))).code).toBe(0);
  });

  it.each(['midtrans', 'xendit'])('a mistake in the section %s without calling its key missing', async (provider) => {
    const section = `${provider}: { base_url: nope, ${provider === 'midtrans' ? 'server_key' : 'secret_key'}: k }`;
    const mistake = await mistakeIn(`payments: { provider: ${provider} }\n${section}`);
    expect(mistake).toMatch(new RegExp(`^gateway\\.yaml:2:\\d+ ${provider}\\.base_url: is "nope"[^\\n]*$`));
  });

  it('the contact of the example where others reach the gateway', async () => {
    const yaml = `service: { contact: "mailto:you@example.com" }\npayments: { provider: none }\n${valid}`;
    expect((await check(yaml)).code).toBe(0);
    expect((await check(yaml, { NODE_ENV: 'production' })).errors).toBe(
      'gateway.yaml:1:21 service.contact: is the example mailto:you@example.com, with NODE_ENV=production, so customers who need help would reach nobody; set an address that you read\n',
    );
  });

  it('a plugin that is a folder, by the name of the file in it', async () => {
    await mkdir(join(folder, 'empty'));
    await mkdir(join(folder, 'full'));
    await writeFile(join(folder, 'full', 'index.ts'), '');
    const { errors } = await check(`plugins:\n  - ./empty\n  - ./full\n${valid}`);
    expect(errors).toContain(
      '/empty is a folder without an index.ts or index.js; name the file that exports the plugin',
    );
    expect(errors).toContain('/full is a folder; name its file index.ts as well');
    expect(errors).not.toContain('import-plugin.ts');
  });
});

it.each(['"gpt-4.*"', '"claude-*"', 'gpt-4.1'])('daypass check accepts the alias %s', async (alias) => {
  expect((await check(`aliases: { ${alias}: test }\n${valid}`)).code).toBe(0);
});

const plans = (...prices: readonly [days: number, price: number][]) =>
  `plans: [${prices.map(([days, price]) => `{ days: ${days}, price: ${price} }`).join(', ')}]\n${valid}`;

describe('daypass check says', () => {
  it('what a day of each plan costs, and warns when a longer one costs no less', async () => {
    const { out } = await check(plans([30, 1_000_000], [1, 18_000], [7, 300_000], [2, 36_000]));
    expect(out).toMatch(
      /^plans, in days\n {2}1 +Rp 18\.000 {3}Rp 18\.000 a day\n {2}2 +Rp 36\.000 {3}Rp 18\.000 a day\n {2}7 +Rp 300\.000 {3}Rp 42\.857 a day\n {2}30 +Rp 1\.000\.000 {3}Rp 33\.333 a day$/m,
    );
    expect(out.match(/^note: a longer plan.*$/gm)).toEqual([
      'note: a longer plan is not cheaper per day: 2 days are Rp 18.000 a day, 1 day is Rp 18.000 a day; lower the price of 2 days',
      'note: a longer plan is not cheaper per day: 7 days are Rp 42.857 a day, 1 day is Rp 18.000 a day; lower the price of 7 days',
      'note: a longer plan is not cheaper per day: 30 days are Rp 33.333 a day, 1 day is Rp 18.000 a day; lower the price of 30 days',
    ]);
  });

  it('nothing about prices that fall with the days, by less than is shown', async () => {
    expect((await check(plans([1, 18_000], [3, 53_999]))).out).not.toContain('a longer plan');
  });

  it('which models have no backup on another host', async () => {
    const upstreams = `upstreams:
  one: { format: chat, base_url: "http://one.test/v1", api_keys: [k] }
  again: { format: responses, base_url: "http://one.test/v2", api_keys: [k] }
  two: { format: chat, base_url: "http://two.test/v1", api_keys: [k] }
  demo: { vendor: demo }
`;
    const models =
      'models: { alone: { routes: [one/a] }, same: { routes: [one/a, again/a] }, safe: { routes: [one/a, two/a] }, demo: { routes: [demo/chatty] } }';
    const { out } = await check(`pipeline: [auth, plan, format, upstream, log]\n${upstreams}${models}`);
    expect(out.match(/^note: .*$/gm)).toEqual([
      'note: without a backup route: alone, same; give each a second route, on the upstream of another vendor',
    ]);
    // One vendor alone: no other upstream could serve as a backup.
    expect((await check(valid)).out).not.toContain('without a backup');
  });

  it('who can sign in, pay and get mails, and warns where that is impossible', async () => {
    const all = `sign_in: { google: { client_id: a, client_secret: b } }
mail: { smtp: "smtp://user:sk-secret@mail.test", from: shop@mail.test }
${valid}`;
    const { out } = await check(all);
    expect(out).toMatch(/^ {2}mail +from shop@mail\.test by mail\.test:587$/m);
    expect(out).not.toContain('sk-secret');
    const { out: inProduction } = await check(valid, { NODE_ENV: 'production' });
    expect(inProduction.match(/^note: nobody .*?:/gm)).toEqual([
      'note: nobody gets mail about payments, plan ends and sign-ins:',
      'note: nobody can buy a plan:',
      'note: nobody can sign in:',
    ]);
    const { out: sellsNothing } = await check(`payments: { provider: none }\n${valid}`, { NODE_ENV: 'production' });
    expect(sellsNothing).not.toContain('nobody can buy');
  });
});

describe('workers', () => {
  it('are refused without Redis, which one process does not need', async () => {
    const wrong =
      'gateway.yaml:1:10 workers: asks for 2 processes, which share limits, cache and queues through Redis, and REDIS_URL is not set; set REDIS_URL, or use `workers: 1`\n';
    expect(await check(`workers: 2\n${valid}`, { REDIS_URL: '' })).toMatchObject({ code: 78, errors: wrong });
    expect(await check(`workers: 2\n${valid}`, { REDIS_URL: 'redis://host' })).toMatchObject({ code: 0 });
    expect(await check(`workers: all\n${valid}`)).toMatchObject({
      errors: 'gateway.yaml:1:10 workers: is "all"; use one of: auto, an integer from 1 to 64\n',
    });
    expect(await check(`workers: "\${WORKERS}"\n${valid}`, { REDIS_URL: '', WORKERS: '1' })).toMatchObject({ code: 0 });
  });
});

function codeOf(work: () => unknown): number {
  try {
    work();
  } catch (error) {
    return exitCodeOf(error);
  }
  return 0;
}

function failed(code: string) {
  return createListenRefusal('x:80', 'listen.port', Object.assign(new Error(code), { code }));
}

describe('the exit code says whether a later start may succeed:', () => {
  const key = (text: string) => valid.replace('[k]', `["${text}"]`);
  it.each([
    ['a plugin that is not there', 78, `plugins: [./nowhere.mjs]\n${valid}`],
    ['a plugin whose code fails, as one does that asks another machine', 1, `plugins: [./ours.mjs]\n${valid}`],
    ['the file of a secret that is not there yet', 1, key('${file:./later}')],
    ['the same and a mistake', 78, key('${file:./later}').replace('chat', 'chta')],
    ['a variable that is not set', 78, key('${DAYPASS_NOT_SET}')],
  ])('%s, %d', async (_, code, yaml) => {
    await writeFile(join(folder, 'ours.mjs'), "throw new Error('connect ECONNREFUSED');");
    expect(await check(yaml)).toMatchObject({ code });
  });

  it.each([
    ['a DATABASE_URL that is not one', 78, () => checkUrl('localhost')],
    ['a REDIS_URL that is not one', 78, () => parseRedisUrl('localhost')],
    ['a certificate of Redis that is not there yet', 1, () => parseRedisUrl('rediss://host/?ca=/nowhere.pem')],
    ['a LOG_FORMAT that is not one', 78, () => openProcessLog({ LOG_FORMAT: 'xml' })],
  ])('%s, %d', (_, code, work) => {
    expect(codeOf(work)).toBe(code);
  });

  it('a port that the user may not use, 78, and a port in use or an address that is not there yet, 1', () => {
    expect(['EACCES', 'EADDRINUSE', 'EADDRNOTAVAIL'].map((code) => failed(code).exitCode)).toEqual([78, 1, 1]);
    expect(failed('EACCES').message).toBe(
      "cannot listen on x:80: the gateway's user may not use the port; set listen.port to another one",
    );
  });
});
