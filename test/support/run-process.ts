import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';

export interface Ended {
  readonly code: number | string; // exit code, or the name of the signal that ended the process
  readonly out: string;
  readonly errors: string;
  readonly seconds: number;
  readonly isTimeout: boolean;
}

export interface ProcessOptions {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>; // the whole environment; nothing is inherited
  readonly timeout: number; // ms
  readonly input?: string;
}

const maxOutputBytes = 1_000_000; // of each output
const marker = 'DAYPASS_TEST_RUN'; // in the environment of every process, to find those that a tool leaves behind
let count = 0;

/** After the command's end or the timeout, ends everything that the command started, in any process group or session. */
export async function runProcess(
  [program = '', ...parameters]: readonly string[],
  { cwd, environment, timeout, input }: ProcessOptions,
): Promise<Ended> {
  const mark = `${process.pid}-${++count}`;
  const began = performance.now();
  const child = spawn(program, parameters, {
    cwd,
    env: { ...environment, [marker]: mark },
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  const [out, errors] = [collect(child.stdout), collect(child.stderr)];
  let isTimeout = false;
  const timer = setTimeout(() => {
    isTimeout = true;
    signalGroup(child.pid);
  }, timeout);
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  clearTimeout(timer);
  const seconds = (performance.now() - began) / 1_000;
  signalGroup(child.pid);
  await endLeftovers(mark);
  return { code: code ?? String(signal), out: out(), errors: errors(), seconds, isTimeout };
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  let length = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (length < maxOutputBytes) chunks.push(chunk);
    length += chunk.length;
  });
  return () => Buffer.concat(chunks).toString();
}

function signalGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}

/** Ends servers in sessions of their own. They are found only if /proc exists; otherwise they keep running. */
async function endLeftovers(mark: string): Promise<void> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of pids) {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    if (!environment.split('\0').includes(`${marker}=${mark}`)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}
