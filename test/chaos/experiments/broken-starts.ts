import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitForExit, findPostmasterPid } from '#core/platform/database/postmaster.ts';
import { createGatewayFolder } from '../../support/gateway-home.ts';
import { execute, type TestPostgres, withDatabase } from '../../support/global-postgres.ts';
import { type BrokenStart, brokenStarts } from '../broken-starts.ts';
import { type Experiment, inParallel, noneOf } from '../figure.ts';

/** Ms after which a gateway that has not exited hangs: it has started long before, even on a busy machine. */
const hangsAfter = 60_000;
/** Ms between the message and the exit. */
const exitsWithin = 5_000;
/** Ms after which a server that was told to stop has been left behind: it may outlive a gateway that had to force it. */
const serverExitsWithin = 10_000;

const pipeline =
  'pipeline: [auth, plan, { rate-limit: { limit: 9, period: 1, burst: 9, concurrent: 9 } }, cache, format, upstream, log]';
const yaml = `
upstreams: { one: { format: chat, base_url: "http://127.0.0.1:9/v1" } }
models: { test: { routes: [one/model-there] } }
`;

/** Starts that cannot succeed must end by themselves, say why, and leave nothing behind. */
export const brokenStart: Experiment = {
  name: 'broken-starts',
  isPatient: true,
  description: 'starts that cannot succeed end, say why, and leave nothing behind',
  async run({ postgres, isShort, print }) {
    const chosen = isShort ? brokenStarts.filter((_, index) => index % 5 === 0) : brokenStarts;
    // The first start of a checkout also writes what it has compiled, 3,000 files, which takes a minute on a busy machine.
    await tryStart(postgres, brokenStarts.find(({ name }) => name === 'a port in use') as BrokenStart);
    const results = await inParallel(chosen.length, 2, (index) => tryStart(postgres, chosen[index] as BrokenStart));
    const slowest = Math.max(...results.map(({ took }) => took));
    print(`  the slowest exit came ${Math.round(slowest)} ms after the message`);
    const of = (key: 'hung' | 'wrong' | 'left') => results.flatMap((result) => result[key] ?? []);
    return [
      noneOf('broken starts that hung', chosen.length, of('hung')),
      noneOf('broken starts without their message or exit code', chosen.length, of('wrong')),
      noneOf('broken starts that left a process, a lock or a connection behind', chosen.length, of('left')),
      {
        name: 'slowest exit after the message',
        count: chosen.length,
        seen: `${Math.round(slowest)} ms`,
        aim: `at most ${exitsWithin} ms`,
        isMet: slowest <= exitsWithin,
        isTimed: true,
        limit: { ms: exitsWithin, of: 'elapsed' },
      },
    ];
  },
};

interface Result {
  readonly hung?: string;
  readonly wrong?: string;
  readonly left?: string;
  /** Ms from the message, or the signal, to the exit. */
  readonly took: number;
}

async function tryStart(postgres: TestPostgres, broken: BrokenStart): Promise<Result> {
  await using resources = new AsyncDisposableStack();
  const database = `daypass_broken_${randomBytes(6).toString('hex')}`;
  await execute(postgres.url, `CREATE DATABASE ${database} TEMPLATE template0`);
  resources.defer(() => execute(postgres.url, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`));
  const databaseUrl = withDatabase(postgres.url, database);
  const { folder, file } = await createGatewayFolder('');
  // The embedded server may run as another user, which must be able to enter.
  await chmod(folder, 0o755);
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  const { name, says, stopAt, exitCode = 1 } = broken;
  const breakage = await broken.prepare({ folder, databaseUrl, resources });
  const { listen = 'listen: { port: 0, notice_period: 0 }', yaml: own = '' } = breakage;
  await writeFile(file, [listen, own.includes('pipeline:') ? '' : pipeline, yaml, own].join('\n'));
  const variables: Record<string, string> = breakage.hasDatabaseUrl === false ? {} : { DATABASE_URL: databaseUrl };
  const ended = await runGateway(file, { ...variables, ...breakage.environment }, stopAt ?? says, stopAt !== undefined);
  const lines = ended.output.trim();
  if (ended.code === undefined) return { hung: `${name}:\n${lines}`, took: 0 };
  const isRight = says.test(ended.output) && ended.code === (stopAt === undefined ? exitCode : 0);
  const left = await findLeftovers(folder, databaseUrl, breakage.environment?.['DATABASE_URL'] === undefined);
  return {
    ...(!isRight && { wrong: `${name}: exit code ${ended.code}:\n${lines}` }),
    ...(left !== undefined && { left: `${name}: ${left}` }),
    took: ended.took,
  };
}

async function runGateway(
  file: string,
  environment: Record<string, string>,
  awaited: RegExp,
  isStopped: boolean,
): Promise<{ readonly code: number | undefined; readonly output: string; readonly took: number }> {
  const child = spawn(process.execPath, ['core/main.mjs', '--config', file, 'start'], {
    cwd: join(import.meta.dirname, '..', '..', '..'),
    env: { LOG_FORMAT: 'text', PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...environment },
  });
  let output = '';
  let saidAt: number | undefined;
  const read = (bytes: Buffer) => {
    output += bytes.toString();
    if (saidAt !== undefined || !awaited.test(output)) return;
    saidAt = performance.now();
    if (isStopped) child.kill('SIGTERM');
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const timer = setTimeout(() => child.kill('SIGKILL'), hangsAfter);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  const now = performance.now();
  return { code: code ?? undefined, output, took: now - (saidAt ?? now) };
}

/** A server that still runs, a lock of the gateway's, or an open connection. */
async function findLeftovers(folder: string, url: string, isUsed: boolean): Promise<string | undefined> {
  // In some of these starts the data folder is a file.
  const data = join(folder, 'data');
  const server = await findPostmasterPid(join(data, 'postgres')).catch(() => undefined);
  if (server !== undefined && !(await waitForExit(server, serverExitsWithin)))
    return `PostgreSQL runs as process ${server}`;
  const holder = await readFile(join(data, 'postgres.lock'), 'utf8').catch(() => '');
  if (holder !== '' && holder !== String(process.pid)) return `the lock of process ${holder}`;
  if (!isUsed) return undefined;
  return execute(
    url,
    `DO $$ BEGIN IF (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
       AND application_name LIKE 'daypass%' AND application_name <> 'daypass-instance') > 0
     THEN RAISE 'a connection is left'; END IF; END $$`,
  ).then(
    () => undefined,
    (error: unknown) => String(error),
  );
}
