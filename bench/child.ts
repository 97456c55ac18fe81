/** A benchmark's processes. They report their port and key once ready, and answer questions about themselves. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Figures, Ready } from './process-figures.ts';

const reportTimeoutMs = 10_000; // a dead process never reports
const stopTimeoutMs = 15_000;

export interface Child extends Ready {
  readonly process: ChildProcess;
}

/** `file` is in this folder. Throws an Error if the process ends before it is ready. */
export async function startChild(file: string, parameters: readonly string[]): Promise<Child> {
  // The settings of `npm start`, with which freed memory goes back to the system.
  const env = { ...process.env, MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '262144' };
  const child = fork(resolve(import.meta.dirname, file), parameters, { silent: true, env, execArgv: ['--expose-gc'] });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended before it was ready`)));
  ended.catch(() => undefined);
  const [ready] = (await Promise.race([once(child, 'message'), ended])) as [Ready];
  return { ...ready, process: child };
}

export async function askFigures({ process: child }: Child): Promise<Figures> {
  const answered = once(child, 'message', { signal: AbortSignal.timeout(reportTimeoutMs) });
  child.send('figures');
  const [figures] = (await answered) as [Figures];
  return figures;
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await ended;
  clearTimeout(timer);
}
