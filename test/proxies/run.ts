import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { testCertificate, testKey } from '../support/tls-upstream.ts';
import type { InstalledProxy } from './install.ts';

export const examples = join(import.meta.dirname, '..', '..', 'deploy', 'proxies');

/** Where a proxy listens, and the instances behind it: one or two. */
export interface ProxyPorts {
  readonly port: number;
  readonly instances: readonly number[];
}

export interface RunningProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  /** What it has printed. */
  output(): string;
}

/** An example from deploy/proxies with the ports of a test, and its certificate in this folder. */
export async function example(name: string, { instances: [one, two] }: ProxyPorts, folder: string): Promise<string> {
  const text = (await readFile(join(examples, name), 'utf8')).replaceAll('/etc/ssl/daypass', folder);
  const first = place(text, '10.0.0.11', one);
  if (two !== undefined) return place(first, '10.0.0.12', two);
  // As the documentation says: without the second address.
  return first
    .replace(/(127\.0\.0\.1:\d+) 10\.0\.0\.12:8080/, '$1')
    .split('\n')
    .filter((line) => !line.includes('10.0.0.12'))
    .join('\n');
}

export async function writeCertificate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'fullchain.pem'), testCertificate);
  await writeFile(join(folder, 'privkey.pem'), testKey);
  await writeFile(join(folder, 'daypass.pem'), testCertificate + testKey);
}

/** @throws Error with what it has printed, when it does not listen within ten seconds */
export async function runProxy(
  { program, environment }: InstalledProxy,
  words: readonly string[],
  port: number,
  own: Record<string, string> = {},
): Promise<RunningProcess> {
  const env = { ...process.env, ...environment, ...own };
  const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
  const exited = once(child, 'exit');
  const deadline = performance.now() + 20_000;
  while (!(await listens(port))) {
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
      // Some wait for their connections.
      if ((await Promise.race([exited, setTimeout(3_000)])) === undefined) child.kill('SIGKILL');
      await exited;
    },
  };
}

async function listens(port: number): Promise<boolean> {
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

/** Replaces an instance of an example, in the form of most files and in that of Envoy. */
function place(text: string, address: string, port: number | undefined): string {
  return text
    .replace(`${address}:8080`, `127.0.0.1:${port}`)
    .replace(`${address}, port_value: 8080`, `127.0.0.1, port_value: ${port}`);
}
