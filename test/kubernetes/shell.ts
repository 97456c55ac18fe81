import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { stringify } from 'yaml';

const run = promisify(execFile);
const longestCommand = 180_000; // ms

export interface Said {
  readonly out: string;
  /** Warnings of the API server among them. */
  readonly errors: string;
}

/** What a command prints until it is stopped. */
export interface Watch {
  /** Stops the command. @returns its lines */
  stop(): Promise<readonly string[]>;
}

/** Runs command lines with `kubectl` on their PATH, as a reader of the documentation does. */
export interface Shell {
  /** @throws Error with what the command says, when it ends with another code than 0 */
  run(command: string, folder?: string): Promise<Said>;
  apply(...objects: readonly object[]): Promise<void>;
  /** @param text YAML */
  applyText(text: string): Promise<void>;
  /** @param words of kubectl */
  watch(...words: readonly string[]): Promise<Watch>;
}

/** @param config the clients' configuration of a cluster */
export function openShell(kubectl: string, config: string): Shell {
  const folder = dirname(config);
  const path = `${dirname(kubectl)}:${process.env['PATH']}`;
  const env = { ...process.env, PATH: path, KUBECONFIG: config, HOME: folder };
  const shell: Shell = {
    async run(command, cwd = folder) {
      const options = { cwd, env, timeout: longestCommand, maxBuffer: 64 * 1_024 * 1_024 };
      const said = await run('bash', ['-euo', 'pipefail', '-c', command], options).catch((error: unknown) => {
        const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
        throw new Error(`${command}\n${stdout}${stderr}`, { cause: error });
      });
      return { out: said.stdout, errors: said.stderr };
    },
    apply: (...objects) => shell.applyText(objects.map((object) => stringify(object)).join('---\n')),
    async applyText(text) {
      const files = await mkdtemp(join(tmpdir(), 'daypass-objects-'));
      try {
        await writeFile(join(files, 'objects.yaml'), text);
        await shell.run(`kubectl apply --server-side -f ${files}`);
      } finally {
        await rm(files, { recursive: true });
      }
    },
    async watch(...words) {
      const child = spawn(kubectl, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      // It begins with what is there.
      await until(`kubectl ${words.join(' ')} prints a line`, async () => output !== '');
      return {
        async stop() {
          child.kill('SIGTERM');
          await once(child, 'close');
          return output.trim().split('\n');
        },
      };
    },
  };
  return shell;
}

/**
 * Asks each half second.
 *
 * @param seconds it may take
 * @returns the seconds that it took
 * @throws Error with the last error
 */
export async function until(what: string, holds: () => Promise<boolean>, seconds = 120): Promise<number> {
  const start = performance.now();
  const passed = () => (performance.now() - start) / 1_000;
  let last: unknown;
  for (;;) {
    const isSo = await holds().catch((error: unknown) => {
      last = error;
      return false;
    });
    if (isSo) return passed();
    if (passed() > seconds) {
      const said = last instanceof Error ? `: ${last.message}` : '';
      throw new Error(`it did not come to this in ${seconds} s: ${what}${said}`, { cause: last });
    }
    await setTimeout(500);
  }
}
