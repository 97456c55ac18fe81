import { execFile } from 'node:child_process';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createUpstream, type FaultyUpstream, type ScriptedResponse } from '../support/faulty-upstream.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, yamlFor } from '../support/gateway.ts';
import { PageClient } from '../support/page-client.ts';
import { redisUrl } from '../support/redis.ts';

// Whole processes start and stop here, on machines that may be busy.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const root = join(import.meta.dirname, '..', '..');
const environment = { REDIS_URL: redisUrl ?? '' };
const listen = 'drain_timeout: 20';
const reply = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
};

/** A worker as `/readyz?verbose` describes it. */
interface Described {
  readonly worker: number;
  readonly state: string;
  readonly process: number;
  readonly crashes: number;
}

let home: GatewayHome;
let upstream: FaultyUpstream;
let gateway: GatewayProcess;
/** Answers wait for it. */
let gate = Promise.resolve();

/** Held answers, and a busy machine, break no timeout. */
const patient = 'upstream: { first_byte_timeout: 120, connect_timeout: 60 }';
const yaml = () =>
  `workers: 2\noperators: [ops@example.com]\n${yamlFor(`${upstream.url}/v1`, '[chat]').replace(/upstream: \{.*\}/, patient)}`;

async function answer(_request: unknown, response: ScriptedResponse): Promise<void> {
  await gate;
  response.json(200, reply);
}

/** Over a connection of its own. @returns the status, or 'broken' */
async function ask(): Promise<number | 'broken'> {
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${home.key}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ model: 'test', messages: [{ role: 'user', content: 'Hello' }] }),
  };
  try {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, init);
    await response.text();
    return response.status;
  } catch {
    return 'broken';
  }
}

async function describeWorkers(): Promise<Described[]> {
  const response = await fetch(`${gateway.operatorUrl}/readyz?verbose`);
  return ((await response.json()) as { workers: Described[] }).workers;
}

/** Processes and crashes, as an operator reads them. */
async function shownWorkers(): Promise<number[][]> {
  const client = new PageClient(gateway.url);
  await client.submit('/sign-in', '/sign-in', { name: 'Ops', email: 'ops@example.com' });
  const { text } = await client.get('/operator/health');
  const [, table = ''] = /<h2>Workers<\/h2>([^]*?)<\/table>/.exec(text) ?? [];
  return [...table.matchAll(/<tr>[^]*?<\/tr>/g)]
    .slice(1)
    .map(([row]) => [...row.matchAll(/>(\d+)</g)].map(([, value]) => Number(value)));
}

/** By worker, from 1 on. */
async function metric(name: string): Promise<number[]> {
  const text = await (await fetch(`${gateway.operatorUrl}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^daypass_${name}{worker="\\d+"[^\\n]* (\\d+)$`, 'gm'))].map(([, value]) =>
    Number(value),
  );
}

const command = (name: string, more: NodeJS.ProcessEnv = environment) =>
  promisify(execFile)(process.execPath, ['core/main.mjs', '--config', home.file, name], {
    cwd: root,
    env: { ...process.env, DATABASE_URL: home.databaseUrl, ...more },
  });

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const untilReady = () =>
  vi.waitFor(async () => expect((await describeWorkers()).map(({ state }) => state)).toEqual(['ready', 'ready']), {
    timeout: 120_000,
    interval: 50,
  });

/** Forty requests that run until they are released, and how many of them each worker has. */
async function holdForty() {
  const held = Promise.withResolvers<void>();
  gate = held.promise;
  const asked = Array.from({ length: 40 }, ask);
  const running = await vi.waitFor(
    async () => {
      const counts = await metric('requests_running');
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40);
      return counts;
    },
    { timeout: 30_000 },
  );
  return { asked, running, release: () => held.resolve() };
}

describe.skipIf(redisUrl === undefined)('two workers', () => {
  beforeAll(async () => {
    upstream = await createUpstream(answer, { keeps: false });
    home = await createGatewayHome('');
    await home.write(yaml(), listen);
    gateway = await home.start(environment);
  });
  afterAll(async () => {
    expect(await gateway.end('SIGTERM')).toBe(0);
    await home[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  it('share the requests, and the metrics have those of both', async () => {
    await untilReady();
    const { asked, release } = await holdForty();
    try {
      // The kernel may give all of a burst to the worker that is awake.
      const isShared = async () => {
        asked.push(ask());
        expect(Math.min(...(await metric('requests_running')))).toBeGreaterThan(0);
      };
      await vi.waitFor(isShared, { timeout: 30_000 });
    } finally {
      release();
    }
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
    expect(await metric('worker_up')).toEqual([1, 1]);
  });

  it('lose only the requests of the one that is killed, which is started again', async () => {
    await untilReady();
    const {
      asked,
      running: [lost = 0],
      release,
    } = await holdForty();
    const [first] = await describeWorkers();
    process.kill(first?.process ?? 0, 'SIGKILL');
    gate = Promise.resolve();
    expect(await ask()).toBe(200);
    release();
    const ends = await Promise.all(asked);
    expect(ends.filter((end) => end === 'broken')).toHaveLength(lost);
    expect(ends.filter((end) => end === 200)).toHaveLength(40 - lost);
    await untilReady();
    expect(await metric('worker_crashes_total')).toEqual([1, 0]);
    const ids = (await describeWorkers()).map(({ process: id }) => id);
    await vi.waitFor(
      async () =>
        expect(await shownWorkers()).toEqual([
          [ids[0], 1],
          [ids[1], 0],
        ]),
      { timeout: 30_000 },
    );
  });

  it('are replaced by `daypass restart` without a lost request', async () => {
    await untilReady();
    gate = Promise.resolve();
    const before = await describeWorkers();
    const over = new AbortController();
    const ends: (number | string)[] = [];
    const clients = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted || ends.length < 500) ends.push(await ask());
    });
    const { stdout } = await command('restart');
    over.abort();
    await Promise.all(clients);
    expect(ends.filter((end) => end !== 200)).toEqual([]);
    expect(stdout).toContain('restart: done');
    const after = await describeWorkers();
    for (const [index, { process: pid }] of before.entries()) {
      expect(after[index]?.process).not.toBe(pid);
      expect(isRunning(pid)).toBe(false);
    }
  });

  it('are refused while another supervisor uses the same data folder', async () => {
    await expect(home.start(environment)).rejects.toThrow(/Another gateway with workers is using/);
  });
});

describe.skipIf(redisUrl === undefined)('workers', () => {
  beforeAll(async () => {
    upstream = await createUpstream(answer, { keeps: false });
    home = await createGatewayHome('');
    await home.write(yaml(), listen);
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  it('end with a supervisor that is killed, and so does the embedded PostgreSQL', async () => {
    await chmod(home.folder, 0o755);
    gateway = await home.start({ ...environment, DATABASE_URL: '' });
    const workers = (await describeWorkers()).map(({ process: pid }) => pid);
    const { folder } = JSON.parse(await readFile(join(home.folder, 'data/postgres.json'), 'utf8')) as {
      folder: string;
    };
    const postgres = Number.parseInt(await readFile(join(folder, 'postmaster.pid'), 'utf8'), 10);
    expect([...workers, postgres].map(isRunning)).toEqual([true, true, true]);
    await gateway.end('SIGKILL');
    await vi.waitFor(() => expect([...workers, postgres].some(isRunning)).toBe(false), {
      timeout: 60_000,
      interval: 50,
    });
  });

  it('that cannot start end the start with their message', async () => {
    await home.write(`${yaml()}plugins: [./missing.ts]\n`, listen);
    const start = command('start', { ...environment, LOG_FORMAT: 'text' });
    await expect(start).rejects.toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/^gateway.yaml:\d+:\d+ plugins.*missing/),
    });
  });
});
