import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DatabaseClaim } from '#core/platform/database/claim.ts';
import { createLogger } from '#core/platform/logger.ts';
import { closedPort, createSilentPort } from '../support/dead-ends.ts';
import { execute } from '../support/global-postgres.ts';

/** Where one broken start happens. */
export interface BrokenStartPlace {
  /** The folder of gateway.yaml; the data folder is `data` in it. */
  readonly folder: string;
  /** A database of its own, without tables. */
  readonly databaseUrl: string;
  readonly resources: AsyncDisposableStack;
}

/** What differs from a start that succeeds. */
export interface Breakage {
  /** Appended to a valid gateway.yaml that listens on any port. */
  readonly yaml?: string;
  /** Replaces the first line of gateway.yaml. */
  readonly listen?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** False starts the embedded PostgreSQL. */
  readonly hasDatabaseUrl?: boolean;
}

export interface BrokenStart {
  readonly name: string;
  /** What the gateway prints. */
  readonly says: RegExp;
  /** How it exits. Default: 1; 78 where a later start would be refused as well. */
  readonly exitCode?: number;
  /** Sends SIGTERM when the gateway has printed this; it then exits with 0. */
  readonly stopAt?: RegExp;
  prepare(place: BrokenStartPlace): Promise<Breakage> | Breakage;
}

const plugin = (name: string, says: RegExp, register: string, more: Partial<Breakage & BrokenStart> = {}) => ({
  name,
  says,
  ...(more.stopAt && { stopAt: more.stopAt }),
  async prepare({ folder }: BrokenStartPlace): Promise<Breakage> {
    await writeFile(join(folder, 'ours.mjs'), register);
    const { yaml = 'plugins: [./ours.mjs]', hasDatabaseUrl = true } = more;
    return { yaml, hasDatabaseUrl };
  },
});

const registering = (body: string) => `export const plugin = { name: 'ours', register(server) { ${body} } };`;
/** Holds the process: a listener and a timer that nobody ends. */
const leak = `(await import('node:net')).createServer().listen(0); setInterval(() => {}, 1000);`;
const stage = (create: string) =>
  `export const ours = { name: 'ours', description: 'Ours.', options: { type: 'object' }, ${create} };`;
const withStage = 'plugins: [./ours.mjs]\npipeline: [ours, auth, plan, cache, format, upstream, log]';

const database = (
  name: string,
  says: RegExp,
  change: (url: URL, place: BrokenStartPlace) => Promise<unknown> | unknown,
) => ({
  name,
  says,
  async prepare(place: BrokenStartPlace): Promise<Breakage> {
    const url = new URL(place.databaseUrl);
    await change(url, place);
    return { environment: { DATABASE_URL: url.href } };
  },
});

async function listening({ resources }: BrokenStartPlace, server: Server): Promise<number> {
  resources.defer(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const configuration = (name: string, says: RegExp, yaml: string): BrokenStart => ({
  name,
  says,
  exitCode: 78,
  prepare: () => ({ yaml }),
});

/** Starts that cannot succeed, each for another reason. */
export const brokenStarts: readonly BrokenStart[] = [
  configuration('malformed YAML', /gateway\.yaml:\d+/, 'models: [oops'),
  configuration('an unknown section', /plan: .*did you mean "?plans"?/, 'plan: []'),
  configuration('an unset variable', /DAYPASS_NOT_SET/, 'service: { name: "${DAYPASS_NOT_SET}" }'),
  configuration('a missing plugin', /file .*missing\.mjs not found/, 'plugins: [./missing.mjs]'),
  plugin('a plugin with a syntax error', /cannot be loaded/, 'export const plugin = {'),
  plugin('a plugin that throws when imported', /no import/, `${leak} throw new Error('no import');`),
  plugin(
    'a plugin with a top-level await that never settles',
    /cannot be loaded: it has not finished loading after 10 s/,
    'await new Promise(() => {});',
  ),
  plugin('a plugin that throws in register', /no register/, registering(`throw new Error('no register');`)),
  plugin(
    'a plugin that rejects in register and leaves handles',
    /no luck/,
    `export const plugin = { name: 'ours', async register() { ${leak} throw new Error('no luck'); } };`,
  ),
  plugin(
    'a plugin with a table outside its name space',
    /cannot be loaded: tables "Ours"/,
    registering(`server.gateway.tables({ name: 'Ours', entities: [], migrations: new URL('file:///nowhere/') });`),
  ),
  plugin(
    'a plugin without its migrations',
    /nowhere/,
    registering(`server.gateway.tables({ name: 'ours', entities: [], migrations: new URL('file:///nowhere/') });`),
  ),
  plugin('a stage that throws in create', /no create/, stage(`create() { throw new Error('no create'); }`), {
    yaml: withStage,
  }),
  plugin(
    'a stage that rejects in create and leaves handles',
    /no stage/,
    stage(`async create() { ${leak} throw new Error('no stage'); }`),
    { yaml: withStage },
  ),
  plugin(
    'a stage that throws in create, with the embedded database',
    /no create/,
    stage(`create() { throw new Error('no create'); }`),
    { yaml: withStage, hasDatabaseUrl: false },
  ),
  plugin(
    'a hook that throws',
    /ours failed in onConfigured/,
    registering(`server.gateway.onConfigured(() => { throw new Error('no hook'); });`),
  ),
  plugin(
    'a hook that rejects and leaves handles',
    /ours failed in onConfigured/,
    registering(`server.gateway.onConfigured(async () => { ${leak} throw new Error('no hook'); });`),
  ),
  plugin(
    'a hook that throws, with the embedded database',
    /ours failed in onConfigured/,
    registering(`server.gateway.onConfigured(() => { throw new Error('no hook'); });`),
    { hasDatabaseUrl: false },
  ),
  plugin(
    'a plugin that throws outside of any call',
    /unhandled error; the gateway has not started/,
    registering(
      `server.gateway.onConfigured(() => { setImmediate(() => { throw new Error('stray'); }); return new Promise(() => {}); });`,
    ),
  ),
  plugin(
    'SIGTERM during a hook that never ends',
    /stopped before the gateway had started/,
    registering(`server.gateway.onConfigured(() => { console.error('hooked'); return new Promise(() => {}); });`),
    { stopAt: /hooked/ },
  ),
  plugin(
    'SIGTERM during a hook that never ends, with the embedded database',
    /stopped before the gateway had started/,
    registering(`server.gateway.onConfigured(() => { console.error('hooked'); return new Promise(() => {}); });`),
    { stopAt: /hooked/, hasDatabaseUrl: false },
  ),
  {
    name: 'a data folder that is a file',
    says: /The data folder .* is not writable/,
    async prepare({ folder }) {
      await writeFile(join(folder, 'data'), '');
      return {};
    },
  },
  {
    name: 'a data folder that is a file, with the embedded database',
    says: /The data folder .* is not writable/,
    async prepare({ folder }) {
      await writeFile(join(folder, 'data'), '');
      return { hasDatabaseUrl: false };
    },
  },
  {
    name: 'a data folder on a file system that takes no files',
    says: /The data folder .* is not writable/,
    prepare: () => ({ yaml: 'data: { folder: /proc/daypass }' }),
  },
  {
    name: 'a data folder on a file system that takes no files, with the embedded database',
    says: /The data folder .* is not writable/,
    prepare: () => ({ yaml: 'data: { folder: /proc/daypass }', hasDatabaseUrl: false }),
  },
  {
    name: 'a journal folder that is a file',
    says: /stage "log" could not be created/,
    async prepare({ folder }) {
      await mkdir(join(folder, 'data'));
      await writeFile(join(folder, 'data', 'journal'), '');
      return {};
    },
  },
  {
    name: 'a port in use',
    says: /cannot listen on .*the port is in use/,
    prepare: async (place) => ({ listen: `listen: { port: ${await listening(place, createServer())} }` }),
  },
  {
    name: 'a port in use, with the embedded database',
    says: /cannot listen on .*the port is in use/,
    prepare: async (place) => ({
      listen: `listen: { port: ${await listening(place, createServer())} }`,
      hasDatabaseUrl: false,
    }),
  },
  {
    name: 'a port of the operator in use',
    says: /cannot listen|port is in use/,
    prepare: async (place) => ({ yaml: `operator: { port: ${await listening(place, createServer())} }` }),
  },
  {
    name: 'an address of another machine',
    says: /cannot listen on 192\.0\.2\.1/,
    prepare: () => ({ listen: 'listen: { host: 192.0.2.1, port: 0, notice_period: 0 }' }),
  },
  database('a database that refuses connections', /could not be opened[^]*ECONNREFUSED/, async (url) => {
    url.host = `127.0.0.1:${await closedPort()}`;
  }),
  database('a database that does not respond', /could not be opened|timeout/, async (url, { resources }) => {
    url.host = `127.0.0.1:${resources.use(await createSilentPort()).port}`;
  }),
  database('a database that speaks something else', /could not be opened|Connection terminated/, async (url, place) => {
    url.host = `127.0.0.1:${await listening(
      place,
      createServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    )}`;
  }),
  database('a wrong password', /could not be opened[^]*authentication failed/, (url) => {
    url.password = 'wrong';
  }),
  database('a missing database', /could not be opened[^]*does not exist/, (url) => {
    url.pathname = '/daypass_nowhere';
  }),
  database('a database that another gateway uses', /Another gateway uses this database/, async (url, { resources }) => {
    const log = createLogger(() => undefined);
    resources.use(await DatabaseClaim.acquire(url.href, 'exclusive', log));
  }),
  database('a read-only database', /read-only transaction/, (url) =>
    execute(url.href, `ALTER DATABASE ${url.pathname.slice(1)} SET default_transaction_read_only = on`),
  ),
  database('a table in the way of a migration', /already exists/, (url) =>
    execute(url.href, 'CREATE TABLE account (unexpected int)'),
  ),
  {
    name: 'DATABASE_URL that is not a URL',
    says: /DATABASE_URL is not a valid PostgreSQL URL/,
    exitCode: 78,
    prepare: () => ({ environment: { DATABASE_URL: 'localhost' } }),
  },
  {
    name: 'SIGTERM while another process sets the database up',
    says: /stopped before the gateway had started/,
    stopAt: /another process is setting up the database/,
    async prepare({ folder }) {
      await mkdir(join(folder, 'data'));
      await writeFile(join(folder, 'data', 'postgres.lock'), String(process.pid));
      return { hasDatabaseUrl: false };
    },
  },
];
