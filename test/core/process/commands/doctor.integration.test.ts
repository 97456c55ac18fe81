import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decodesBrotliSafely } from '#core/platform/node-release.ts';
import { runAsNode } from '../../../support/as-node.ts';
import { runCommand } from '../../../support/command-line.ts';
import { createBareDatabase, dropDatabase } from '../../../support/database.ts';
import { closedPort, createSilentPort } from '../../../support/dead-ends.ts';
import { type FakeGitHub, startFakeGitHub } from '../../../support/fake-github.ts';
import { FakeMidtrans } from '../../../support/fake-midtrans.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { startGateway } from '../../../support/gateway.ts';
import { startMailServer, type TestMailServer } from '../../../support/mail-server.ts';
import { redisUrl } from '../../../support/redis.ts';
import { createTlsUpstream } from '../../../support/tls-upstream.ts';

interface Line {
  readonly check: string;
  readonly subject?: string;
  readonly state: string;
  readonly text: string;
  readonly advice?: string;
  readonly ms: number;
}

const goodKey = 'sk-good-1234567890';
const models = { data: [{ id: 'gpt-6-sol' }, { id: 'gpt-6-luna' }] };
/** A vendor: a list of models for a good key. */
const vendor: Handler = (request, response) =>
  request.headers.authorization === `Bearer ${goodKey}`
    ? response.json(200, models)
    : response.json(401, { error: { message: `Incorrect API key provided: ${request.headers.authorization}` } });

let folder: string;
let databaseUrl: string;
let upstream: FaultyUpstream;
let mail: TestMailServer;
let midtrans: FakeMidtrans;
let github: FakeGitHub;
beforeAll(async () => {
  databaseUrl = await createBareDatabase();
  upstream = await createUpstream(vendor);
  mail = await startMailServer({
    authOptional: false,
    authMethods: ['PLAIN'],
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, done) =>
      password === 'mail-password' ? done(null, { user: 'shop' }) : done(new Error('Invalid username or password')),
  });
  midtrans = new FakeMidtrans();
  await midtrans.listen();
  github = await startFakeGitHub();
});
afterAll(async () => {
  await Promise.all([upstream, mail, midtrans, github].map((one) => one[Symbol.asyncDispose]()));
  await dropDatabase(databaseUrl);
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-doctor-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Setup {
  readonly key?: string;
  readonly upstreamUrl?: string;
  readonly model?: string;
  readonly mailPassword?: string;
  readonly serverKey?: string;
  readonly secret?: string;
  readonly service?: string;
  readonly more?: string;
}

function yamlOf({
  key = goodKey,
  upstreamUrl = upstream.url,
  model = 'gpt-6-sol',
  mailPassword = 'mail-password',
  serverKey = midtrans.serverKey,
  secret = 'github-secret',
  service = '{}',
  more = '',
}: Setup): string {
  return `service: ${service}
pipeline: [auth, plan, format, upstream, log]
upstreams: { main: { format: chat, base_url: "${upstreamUrl}/v1", api_keys: ["${key}"] } }
models: { m: { routes: [main/${model}] } }
currency: IDR
payments: { provider: midtrans }
midtrans: { server_key: "${serverKey}", merchant_id: "${midtrans.merchantId}", base_url: "${midtrans.url}" }
mail: { smtp: "smtp://shop:${mailPassword}@127.0.0.1:${mail.port}", from: shop@example.com }
sign_in: { github: { client_id: github-id, client_secret: "${secret}", config: { uri: "${github.uri}" } } }
operator: { port: ${unusedPort} }
${more}`;
}

/** Of an operator listener that no gateway has: set once per run. */
let unusedPort: number;
beforeAll(async () => {
  unusedPort = await closedPort();
});

/** Runs the command with JSON. */
async function examine(
  setup: Setup = {},
  words: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number; lines: Line[]; all: string }> {
  const file = join(folder, 'gateway.yaml');
  await writeFile(file, yamlOf(setup));
  const urls = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl ?? '' };
  const { code, out, errors } = await runCommand(['--config', file, 'doctor', '--json', ...words], {
    ...urls,
    ...environment,
  });
  const { checks } = JSON.parse(out) as { checks: Line[] };
  return { code, lines: checks, all: out + errors };
}

/** Without upstreams that a check could ask. */
const served = `pipeline: [auth, plan, format, upstream, log]
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/chatty] } }
`;

/** The lines of one check. */
async function find(check: string, setup: Setup = {}, environment: Readonly<Record<string, string>> = {}) {
  const { lines, all, code } = await examine(setup, ['--only', check], environment);
  const [line] = lines;
  if (line === undefined) throw new Error(`no line of ${check}`);
  return { ...line, all, code };
}

describe('daypass doctor', () => {
  it('finds nothing wrong where nothing is, without a gateway', async () => {
    const { code, lines } = await examine();
    expect(lines.filter(({ state }) => state === 'failed')).toEqual([]);
    expect(code).toBe(0);
    expect(lines.map(({ check, state }) => `${check} ${state}`).toSorted()).toEqual(
      [
        'api_keys ok',
        'base_url skipped',
        'clock ok',
        'configuration ok',
        'database ok',
        'disk skipped',
        'gateway skipped',
        'mail ok',
        // The tables of plugins.
        'migrations ok',
        decodesBrotliSafely() ? 'node ok' : 'node warning',
        'payments ok',
        redisUrl === undefined ? 'redis skipped' : 'redis ok',
        'sign_in ok',
        'upstreams ok',
      ].toSorted(),
    );
  });

  it('reads the health checks of a running gateway, and that all migrations are applied', async () => {
    await using gateway = await startGateway({
      yaml: served,
    });
    const { port } = new URL(gateway.operatorUrl);
    await gateway.write(`${served}operator: { port: ${port} }\n`);
    const { out } = await runCommand(['--config', gateway.file, 'doctor', '--json'], {
      DATABASE_URL: gateway.database.url,
    });
    const { checks } = JSON.parse(out) as { checks: Line[] };
    const found = new Map(checks.map(({ check, state, text }) => [check, `${state}: ${text}`]));
    expect(found.get('gateway')).toBe('ok: runs, ok');
    expect(found.get('migrations')).toMatch(/^ok: all \d+ are applied$/);
    expect(found.get('disk')).toMatch(/^(ok|warning): /);
    using _old = runAsNode('26.10.0');
    const only = ['--config', gateway.file, 'doctor', '--json', '--only', 'gateway,node'];
    const { checks: again } = JSON.parse((await runCommand(only)).out) as { checks: Line[] };
    expect(again.map(({ check, state, text }) => `${check} ${state}: ${text}`)).toEqual([
      expect.stringMatching(/^node warning: lacks the security fixes of October 2026 /),
      'gateway ok: runs, ok',
    ]);
  });

  it('prints lines for people, with what to do, and exits with 1', async () => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, yamlOf({ key: 'sk-revoked-123456' }));
    const { code, out, errors } = await runCommand(['--config', file, 'doctor', '--only', 'configuration,api_keys']);
    expect(out).toMatch(/^ok +configuration \(.*gateway\.yaml\) +is valid$/m);
    expect(out).toMatch(
      /^failed +api_keys \(main\) +rejected \(401\): Incorrect API key provided: \[…\]\n +→ Make a new key/m,
    );
    expect(errors).toContain('1 of 2 checks failed');
    expect(code).toBe(1);
  });

  it.each([[[]], [['--only', 'database']]])(
    'explains gateway.yaml with its lines in place of all checks: %j',
    async (only) => {
      const { code, lines } = await examine({ more: 'modles: 7\n' }, only);
      expect(code).toBe(1);
      expect(lines).toHaveLength(1);
      expect(lines[0]?.text).toContain('gateway.yaml:11:1');
    },
  );

  it('refuses a check that it does not have', async () => {
    const file = join(folder, 'gateway.yaml');
    await writeFile(file, yamlOf({}));
    const { code, errors } = await runCommand(['--config', file, 'doctor', '--only', 'databse']);
    expect(code).toBe(2);
    expect(errors).toMatch(/Check "databse" not found\. Checks: configuration, .*database/);
  });

  it('sends the mail that --mail asks for, also where --only names other checks', async () => {
    const sent = mail.received.length;
    const { lines } = await examine({}, ['--only', 'configuration', '--mail', 'ani@example.com', '--timeout', '5']);
    expect(lines.map(({ check, subject }) => [check, subject])).toEqual([
      ['configuration', expect.any(String)],
      ['mail', 'test mail'],
      ['mail', 'SPF'],
      ['mail', 'DMARC'],
      ['mail', 'DKIM'],
    ]);
    expect(mail.received.slice(sent).map(({ to }) => to)).toEqual([['ani@example.com']]);
  });

  it('prints no secret, also when a server repeats it', async () => {
    const secrets = {
      key: 'sk-revoked-123456',
      mailPassword: 'wrong-mail-pw',
      serverKey: 'SB-Mid-server-WRONG',
      secret: 'wrong-gh-secret',
    };
    const wrongDatabase = databaseUrl.replace(/:\/\/[^@]*@/, '://daypass:hidden-db-pw@');
    const { all, lines } = await examine(secrets, [], { DATABASE_URL: wrongDatabase });
    expect(lines.filter(({ state }) => state === 'failed').length).toBeGreaterThanOrEqual(4);
    for (const secret of [...Object.values(secrets), 'hidden-db-pw']) expect(all).not.toContain(secret);
  });

  it('is not held up by a check that hangs', async () => {
    await using silent = await createSilentPort();
    const began = performance.now();
    const { lines } = await examine({ upstreamUrl: `http://127.0.0.1:${silent.port}` }, ['--timeout', '2']);
    expect(performance.now() - began).toBeLessThan(20_000);
    const key = lines.find(({ check }) => check === 'api_keys');
    expect([key?.state, key?.text]).toEqual([
      'failed',
      expect.stringMatching(/no (result within 2 s|response in time)/),
    ]);
    expect(lines.find(({ check }) => check === 'payments')?.state).toBe('ok');
  });
});

describe('daypass doctor finds', () => {
  it('a key that the vendor rejects', async () => {
    const { state, text, advice, code } = await find('api_keys', { key: 'sk-revoked-123456' });
    expect([state, text, code]).toEqual(['failed', 'rejected (401): Incorrect API key provided: […]', 1]);
    expect(advice).toContain('Make a new key');
  });

  it('a model that the vendor does not have', async () => {
    const { state, text, code } = await find('api_keys', { model: 'gpt-55' });
    expect([state, text, code]).toEqual(['warning', 'accepted, but its list lacks gpt-55', 0]);
  });

  it('an upstream that refuses connections, and a host name that does not exist', async () => {
    const refused = await find('upstreams', { upstreamUrl: `http://127.0.0.1:${await closedPort()}` });
    expect([refused.state, refused.text]).toEqual(['failed', 'connection refused']);
    const unknown = await find('upstreams', { upstreamUrl: 'http://no-such-host.invalid' });
    expect([unknown.state, unknown.text]).toEqual(['failed', 'host name not found']);
    expect(unknown.advice).toContain('name servers');
  });

  it('no fault of a key where the upstream is not reachable', async () => {
    const upstreamUrl = `http://127.0.0.1:${await closedPort()}`;
    const { state, text } = await find('api_keys', { upstreamUrl });
    expect([state, text]).toEqual(['skipped', 'not reachable, see upstreams']);
  });

  it('a base URL under which there is nothing', async () => {
    await using empty = await createUpstream((_request, response) => response.json(404, { detail: 'Not Found' }));
    const { state, text, advice } = await find('api_keys', { upstreamUrl: empty.url });
    expect([state, text]).toEqual(['warning', '404 for the list of models: check base_url']);
    expect(advice).toContain('/v1');
  });

  it('a certificate that is not trusted, and a server without TLS', async () => {
    await using tls = await createTlsUpstream(() => ({}));
    const untrusted = await find('upstreams', { upstreamUrl: `https://localhost:${tls.port}` });
    expect([untrusted.state, untrusted.text]).toEqual(['failed', 'its certificate is not trusted here']);
    const plain = await find('upstreams', { upstreamUrl: upstream.url.replace('http:', 'https:') });
    expect([plain.state, plain.text]).toEqual(['failed', 'it does not speak TLS']);
  });

  it('a database that is away, one with another password, and one that does not exist', async () => {
    const away = await find('database', {}, { DATABASE_URL: `postgres://a:b@127.0.0.1:${await closedPort()}/d` });
    expect([away.state, away.text]).toEqual(['failed', 'connection refused']);
    const missing = new URL(databaseUrl);
    missing.pathname = '/no_such_database';
    const none = await find('database', {}, { DATABASE_URL: missing.href });
    expect([none.state, none.text]).toEqual(['failed', 'database not found']);
    const invalid = await find('database', {}, { DATABASE_URL: 'mysql://a@b/c' });
    expect([invalid.state, invalid.text]).toEqual(['failed', expect.stringContaining('not a valid PostgreSQL URL')]);
  });

  it('a user of the database whose password is another one', async () => {
    const wrong = new URL(databaseUrl);
    wrong.username = 'no_such_user';
    const { state, text, advice } = await find('database', {}, { DATABASE_URL: wrong.href });
    expect([state, text]).toEqual(['failed', 'authentication failed']);
    expect(advice).toBe('Correct user and password in DATABASE_URL.');
  });

  it('migrations that are pending, those that another version has made, and a database without any', async () => {
    await using gateway = await startGateway({ yaml: served });
    await gateway.database.query(
      `insert into migration (name, executed_at) values ('Migration20991231000000_future', now())`,
    );
    const empty = await createBareDatabase('template0');
    const findingOn = async (DATABASE_URL: string) => {
      const words = ['--config', gateway.file, 'doctor', '--json', '--only', 'migrations'];
      const { checks } = JSON.parse((await runCommand(words, { DATABASE_URL })).out) as { checks: Line[] };
      return checks.map(({ state, text }) => `${state}: ${text}`);
    };
    try {
      expect(await findingOn(gateway.database.url)).toEqual([
        'warning: the database has 1 that this version does not: Migration20991231000000_future',
      ]);
      const [last] = await gateway.database.query<{ name: string }>(
        `delete from migration where name = (select max(name) from migration where name like '%/%') returning name`,
      );
      expect(await findingOn(gateway.database.url)).toEqual([`warning: 1 pending: ${last?.name}`]);
      expect(await findingOn(empty)).toEqual(['skipped: the first start creates the tables']);
    } finally {
      await dropDatabase(empty);
    }
  });

  it('no database of its own before the first start', async () => {
    const { state, text, subject } = await find('database', {}, { DATABASE_URL: '' });
    expect([subject, state, text]).toEqual(['embedded', 'skipped', 'the first start creates it']);
  });

  it('a Redis that is away', async () => {
    const { state, text, advice } = await find('redis', {}, { REDIS_URL: `redis://127.0.0.1:${await closedPort()}` });
    expect([state, text]).toEqual(['failed', 'connection refused']);
    expect(advice).toContain('Start the server');
  });

  it('a mail server that refuses the sign-in', async () => {
    const { state, text, advice } = await find('mail', { mailPassword: 'wrong-mail-pw' });
    expect([state, text]).toEqual(['failed', expect.stringMatching(/^sign in: /)]);
    expect(advice).toContain('app password');
  });

  it('credentials that the payment provider refuses', async () => {
    const { state, text, advice } = await find('payments', { serverKey: 'SB-Mid-server-WRONG' });
    expect([state, text]).toEqual(['failed', expect.stringContaining('401')]);
    expect(advice).toContain('Midtrans dashboard');
  });

  it('a client secret that the sign-in provider does not know', async () => {
    const { state, text, advice } = await find('sign_in', { secret: 'wrong-gh-secret' });
    expect([state, text]).toEqual(['failed', expect.stringContaining('incorrect_client_credentials')]);
    expect(advice).toContain('client_secret');
  });

  it('a disk that has less space than wanted', async () => {
    const { state, text, advice } = await find('disk', { more: `data: { folder: ., min_free_bytes: ${2 ** 52} }\n` });
    expect([state, text]).toEqual(['failed', expect.stringMatching(/^[\d,]+ MB are free$/)]);
    expect(advice).toContain('keep_days');
  });

  it('a public URL that leads elsewhere, and one that redirects', async () => {
    let answer: [number, Record<string, string>] = [200, {}];
    const server = createServer((_request, response) => response.writeHead(...answer).end('<h1>Parked</h1>'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://localhost:${(server.address() as AddressInfo).port}`;
    try {
      const parked = await find('base_url', { service: `{ base_url: "${url}" }` });
      expect([parked.state, parked.text]).toEqual([
        'failed',
        `${url}/livez does not respond like a gateway (status 200)`,
      ]);
      answer = [301, { location: 'https://www.example.com/livez' }];
      const moved = await find('base_url', { service: `{ base_url: "${url}" }` });
      expect([moved.state, moved.text]).toEqual(['failed', `${url} redirects to https://www.example.com/livez`]);
    } finally {
      server.close();
      await once(server, 'close');
    }
  });

  it.skipIf(redisUrl === undefined)(
    'the direct URL of the database, and the Redis of the queue, by their names',
    async () => {
      const missing = new URL(databaseUrl);
      missing.pathname = '/daypass_nowhere';
      const queue = `redis://127.0.0.1:${await closedPort()}`;
      const { lines } = await examine({}, ['--only', 'database,redis'], {
        DATABASE_DIRECT_URL: missing.href,
        REDIS_QUEUE_URL: queue,
      });
      expect(lines.map(({ subject, state }) => [subject, state])).toEqual([
        ['DATABASE_URL', 'ok'],
        ['DATABASE_DIRECT_URL', 'failed'],
        ['REDIS_URL', 'ok'],
        ['REDIS_QUEUE_URL', 'failed'],
      ]);
      expect(lines[1]?.advice).toContain('in DATABASE_DIRECT_URL');
    },
  );

  it('a clock that is ahead or behind, by the upstreams, and tolerates half a minute', async () => {
    let date = '';
    const server = createServer((_request, response) => {
      response.sendDate = false;
      response.writeHead(200, { date }).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const upstreamUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const findingAt = async (difference: number) => {
      date = new Date(Date.now() + difference).toUTCString();
      const { state, text } = await find('clock', { upstreamUrl });
      return `${state}: ${text}`;
    };
    try {
      expect(await findingAt(-3_600_000)).toMatch(/^failed: 3\d{3} s ahead of the upstreams$/);
      expect(await findingAt(3_600_000)).toMatch(/^failed: 3\d{3} s behind the upstreams$/);
      expect(await findingAt(-15_000)).toMatch(/^ok: within \d+ s of the upstreams$/);
      date = 'tomorrow';
      expect((await find('clock', { upstreamUrl })).text).toBe('no upstream reports the time');
    } finally {
      server.close();
      await once(server, 'close');
    }
  });

  it('a public URL under which nothing listens, and says of one that leads to a gateway that it does', async () => {
    const closed = `http://localhost:${await closedPort()}`;
    const unreachable = await find('base_url', { service: `{ base_url: "${closed}" }` });
    expect([unreachable.state, unreachable.text]).toEqual(['failed', `${closed}: connection refused`]);
    expect(unreachable.advice).toContain('hairpin NAT');
    await using gateway = await startGateway({ yaml: served });
    const right = await find('base_url', { service: `{ base_url: "${gateway.url}" }` });
    expect([right.state, right.text]).toEqual(['ok', `${gateway.url} leads to a gateway`]);
  });
});
