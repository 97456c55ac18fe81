import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { InstalledProgram } from './install-program.ts';

export interface RunningProgram extends AsyncDisposable {
  readonly child: ChildProcess;
  output(): string; // everything printed
}

/** Throws an Error with the output if the program does not listen within `startTimeoutMs`. */
export async function runProgram(
  { program, environment }: InstalledProgram,
  words: readonly string[],
  port: number,
  own: Record<string, string> = {},
  startTimeoutMs = 20_000,
): Promise<RunningProgram> {
  const env = { ...process.env, ...environment, ...own };
  const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
  const exited = once(child, 'exit');
  const deadline = performance.now() + startTimeoutMs;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${program} does not run:\n${output}`);
    }
    await setTimeout(50);
  }
  return {
    child,
    output: () => output,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      // Proxies wait for their connections to close.
      if ((await Promise.race([exited, setTimeout(3_000)])) === undefined) child.kill('SIGKILL');
      await exited;
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
