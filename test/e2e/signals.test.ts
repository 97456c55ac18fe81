import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startAnsweringUpstream } from '../support/answering-upstream.ts';
import { createGatewayFolder } from '../support/gateway-home.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, startGateway, yamlFor } from '../support/gateway.ts';
import { createMemoryFolder } from '../support/memory-folder.ts';

// Whole processes start and stop here, on machines that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const root = join(import.meta.dirname, '..', '..');

let upstream: Awaited<ReturnType<typeof startAnsweringUpstream>>;
let home: GatewayHome;
beforeAll(async () => {
  upstream = await startAnsweringUpstream();
  home = await createGatewayHome(yamlFor(upstream.baseUrl));
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function ask(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  await response.text();
  return response.status;
}

const ready = async (url: string): Promise<number> => (await fetch(`${url}/readyz`)).status;

async function printed(output: () => string, text: string): Promise<void> {
  await vi.waitFor(() => expect(output()).toContain(text), { timeout: 60_000, interval: 10 });
}

/** `daypass start` from its first moment on. */
function spawnStart(
  file: string,
  environment: Record<string, string>,
  preload: readonly string[] = [],
  options: readonly string[] = [],
) {
  const child = spawn(process.execPath, [...preload, 'core/main.mjs', '--config', file, 'start', ...options], {
    cwd: root,
    env: { LOG_FORMAT: 'text', PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...environment },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  return { child, output: () => text, ended };
}

/** Sends SIGTERM as an impatient supervisor does. Signals count two seconds apart. */
async function terminateUntilEnd(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  const timer = setInterval(() => child.kill('SIGTERM'), 100);
  await ended;
  clearInterval(timer);
}

describe('the notice period', () => {
  it('holds without any request: /readyz fails, and new requests are served until it is over', async () => {
    const gateway = await startGateway({ yaml: yamlFor(upstream.baseUrl) });
    await writeFile(gateway.file, `listen: { port: 0, notice_period: 60 }\n${yamlFor(upstream.baseUrl)}`);
    await gateway.gateway.reload();
    const hurry = new AbortController();
    const stopped = gateway.gateway.stop(hurry.signal);
    await vi.waitFor(async () => expect(await ready(gateway.url)).toBe(503));
    expect(await ask(gateway.url, gateway.key)).toBe(200);
    hurry.abort();
    await stopped;
    await expect(ready(gateway.url)).rejects.toThrow('fetch failed');
    await gateway[Symbol.asyncDispose]();
  });

  it('is skipped at a second SIGTERM', async () => {
    await writeFile(home.file, `listen: { port: 0, notice_period: 300 }\n${yamlFor(upstream.baseUrl)}`);
    const { child, output, ended } = spawnStart(home.file, { DATABASE_URL: home.databaseUrl });
    await printed(output, '  curl ');
    child.kill('SIGTERM');
    await printed(output, 'finishing requests in flight');
    const url = /Base URL\s+(http\S+)\/v1/.exec(output())?.[1] ?? '';
    expect(await ready(url)).toBe(503);
    await terminateUntilEnd(child, ended);
    expect(await ended).toEqual([0, null]);
  });

  it('is skipped by start --no-notice', async () => {
    await writeFile(home.file, `listen: { port: 0, notice_period: 300 }\n${yamlFor(upstream.baseUrl)}`);
    const { child, output, ended } = spawnStart(home.file, { DATABASE_URL: home.databaseUrl }, [], ['--no-notice']);
    await printed(output, '  curl ');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});

it('a request that comes after the notice period is refused in the format of its client', async () => {
  await using made = new AsyncDisposableStack();
  const gateway = made.use(
    await startGateway({
      yaml: `plugins: [./hung.mjs]\n${yamlFor(upstream.baseUrl)}`,
      files: { 'hung.mjs': hungEndpoint.replace("console.error('hung now')", "process.emit('hung')") },
    }),
  );
  const running = new AbortController();
  const hung = once(process, 'hung');
  const request = fetch(`${gateway.url}/v1/hung`, { signal: running.signal }).catch(() => undefined);
  await hung;
  const stopped = gateway.gateway.stop(AbortSignal.abort());
  await vi.waitFor(async () => expect(await ready(gateway.url)).toBe(503));
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: '{}',
  });
  const body: unknown = await response.json();
  running.abort();
  await request;
  await stopped;
  expect([response.status >= 500, body]).toMatchObject([true, { type: 'error' }]);
});

it('a third SIGTERM ends the gateway while a request runs, and leaves no PostgreSQL behind', async () => {
  const folder = await createMemoryFolder('daypass-signals-');
  await chmod(folder, 0o755);
  await using made = new AsyncDisposableStack();
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'gateway.yaml');
  await writeFile(join(folder, 'hung.mjs'), hungEndpoint);
  await writeFile(
    file,
    `listen: { port: 0, drain_timeout: 600, notice_period: 0 }\nplugins: [./hung.mjs]\n${yamlFor(upstream.baseUrl)}`,
  );
  const { child, output, ended } = spawnStart(file, {});
  made.defer(() => void child.kill('SIGKILL'));
  await printed(output, '  curl ');
  const { folder: database } = JSON.parse(await readFile(join(folder, 'data', 'postgres.json'), 'utf8')) as {
    folder: string;
  };
  const pid = Number.parseInt(await readFile(join(database, 'postmaster.pid'), 'utf8'), 10);
  const url = /Base URL\s+(http\S+)\/v1/.exec(output())?.[1] ?? '';
  const hung = fetch(`${url}/v1/hung`).catch(() => undefined);
  await printed(output, 'hung now');
  await terminateUntilEnd(child, ended);
  expect(await ended).toEqual([1, null]);
  await hung;
  expect(output()).toContain('third signal: exiting immediately');
  // It ends by itself, after the gateway.
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 15_000 });
});

const hungEndpoint = `export const plugin = { name: 'hung', register(server) {
  server.gateway.endpoint({ name: 'hung', method: 'GET', path: '/v1/hung', isMetered: false, isPublic: true,
    answer() { console.error('hung now'); return new Promise(() => {}); } });
} };`;

describe('signals that a gateway ignores', () => {
  let gateway: GatewayProcess;
  beforeAll(async () => {
    await home.write(yamlFor(upstream.baseUrl));
    gateway = await home.start();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  it.each(['SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM', 'SIGIO', 'SIGXFSZ'] as const)(
    '%s neither ends it nor opens the inspector',
    async (name) => {
      gateway.process.kill(name);
      expect(await ask(gateway.url, home.key)).toBe(200);
      expect(gateway.output()).not.toContain('Debugger listening');
    },
  );
});

it('SIGQUIT lets requests finish and exits with 0', async () => {
  await home.write(yamlFor(upstream.baseUrl));
  const gateway = await home.start();
  expect(await gateway.end('SIGQUIT')).toBe(0);
  expect(gateway.output()).toContain('SIGQUIT: finishing requests in flight');
});

describe('during a start', () => {
  it('SIGHUP does not end the process: gateway.yaml is read again once the gateway runs', async () => {
    await using folder = await temporaryFolder();
    const hook = `server.gateway.onConfigured(() => new Promise((resolve) => {
      process.stdin.once('data', resolve).once('data', () => process.stdin.destroy());
      console.error('hooked');
    }));`;
    await writeFile(
      join(folder.path, 'slow.mjs'),
      `export const plugin = { name: 'slow', register(server) { ${hook} } };`,
    );
    await folder.write(`plugins: [./slow.mjs]\n${yamlFor(upstream.baseUrl)}`);
    const { child, output, ended } = spawnStart(folder.file, { DATABASE_URL: home.databaseUrl });
    await printed(output, 'hooked');
    child.kill('SIGHUP');
    child.stdin.write('go on\n');
    await printed(output, 'has not changed');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('SIGTERM while the code is being loaded exits with 0', async () => {
    await using folder = await temporaryFolder();
    const preload = `import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) {
        if (url.endsWith('/core/process/command-line.ts')) process.kill(process.pid, 'SIGTERM');
        return next(url, context);
      } });`;
    const { ended } = spawnStart(folder.file, {}, ['--import', `data:text/javascript,${encodeURIComponent(preload)}`]);
    expect(await ended).toEqual([0, null]);
  });
});

it('a gateway continues when the reader of its log has gone, and counts lost lines', async () => {
  await home.write(yamlFor(upstream.baseUrl));
  await using gateway = await home.start();
  gateway.process.stderr?.destroy();
  gateway.process.stdout?.destroy();
  await home.write('models: [oops');
  gateway.process.kill('SIGHUP');
  const countsLostLines = async () => {
    const metrics = await (await fetch(`${gateway.operatorUrl}/metrics`)).text();
    expect(Number(/^daypass_log_writes_lost_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  };
  await vi.waitFor(countsLostLines, { timeout: 30_000 });
  expect(await ask(gateway.url, home.key)).toBe(200);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

async function temporaryFolder() {
  const { folder, file, write } = await createGatewayFolder(yamlFor(upstream.baseUrl));
  return {
    path: folder,
    file,
    write,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

it('without a terminal, everything that a gateway prints is lines of JSON, from its start to its end', async () => {
  await writeFile(home.file, `listen: { port: 0, notice_period: 0 }\n${yamlFor(upstream.baseUrl)}`);
  const { child, output, ended } = spawnStart(home.file, { LOG_FORMAT: '', DATABASE_URL: home.databaseUrl });
  await printed(output, 'is running');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  const lines = output().trimEnd().split('\n');
  const messages = lines.map((line) => (JSON.parse(line) as { message: string }).message);
  expect(messages).toContainEqual(expect.stringMatching(/is running \(Daypass .*\) at http:\/\/127\.0\.0\.1:\d+/));
  expect(messages.at(-1)).toBe('stopped');
});
