import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A server in a process of its own. */
export interface RunningServer extends AsyncDisposable {
  readonly url: string;
}

/** How a server is started, and when it is ready. */
export interface Launch {
  readonly program: string;
  readonly parameters: (port: number) => readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** In which it runs. */
  readonly folder?: string;
  /** Path that answers 200 once the model is loaded. */
  readonly ready: string;
}

/** Ms to load the libraries and the model on a busy machine. */
const longestStart = 600_000;
/** Servers must neither ask a hub for models nor report their use. */
const offline = {
  HF_HUB_OFFLINE: '1',
  DO_NOT_TRACK: '1',
  VLLM_NO_USAGE_STATS: '1',
  INFINITY_ANONYMOUS_USAGE_STATS: '0',
  CUDA_VISIBLE_DEVICES: '',
};

/** @throws Error with the last lines of its output when it ends, or is not ready in time */
export async function runServer({ program, parameters, environment, folder, ready }: Launch): Promise<RunningServer> {
  const port = await freePort();
  const child = spawn(program, parameters(port), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...offline, ...environment },
    ...(folder !== undefined && { cwd: folder }),
    detached: true,
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-4_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  const stop = async (): Promise<void> => {
    if (ended || child.pid === undefined) return;
    const exit = once(child, 'exit');
    // The whole group: some servers compute in a child process.
    process.kill(-child.pid, 'SIGKILL');
    await exit;
  };
  const url = `http://127.0.0.1:${port}`;
  const until = Date.now() + longestStart;
  while (!(await isReady(url + ready))) {
    if (ended || Date.now() > until) {
      await stop();
      throw new Error(`not ready: ${output.trim().split('\n').slice(-3).join(' ').slice(-400)}`);
    }
  }
  return { url, [Symbol.asyncDispose]: stop };
}

/** Waits a second where the server does not answer. */
async function isReady(url: string): Promise<boolean> {
  const { promise: pause, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, 1_000);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    if (response.status === 200) {
      clearTimeout(timer);
      return true;
    }
  } catch {
    // Not listening yet.
  }
  await pause;
  return false;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
