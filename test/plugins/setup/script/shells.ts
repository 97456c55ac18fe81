import { spawn } from 'node:child_process';
import { describe } from 'vitest';
import { hasCommand } from '../programs.ts';

export { hasCommand };

/** A shell that /setup.sh must run in: the command that precedes the script's path. */
export interface Shell {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

/** `SETUP_SHELLS=all` runs the tests in rarer shells and with the programs of rarer systems as well: twice the time. */
export const runsEverywhere = process.env['SETUP_SHELLS'] === 'all';

const rareShells: readonly Shell[] = [
  { name: 'bash --posix', command: ['bash', '--posix'] },
  { name: 'mksh', command: ['mksh'] },
  { name: 'ksh93', command: ['ksh93'] },
];

export const shells: readonly Shell[] = [
  { name: 'dash', command: ['dash'] },
  { name: 'bash', command: ['bash'] },
  { name: 'zsh', command: ['zsh', '-f'] },
  { name: 'busybox sh', command: ['busybox', 'sh'] },
  ...(runsEverywhere ? rareShells : []),
];

/** One suite per shell; those of shells that are not installed are skipped and show up as skipped. */
export function describeInShells(title: string, suite: (shell: Shell) => void): void {
  for (const shell of shells) {
    describe.skipIf(!hasCommand(shell.command[0]))(`${title}, in ${shell.name}`, () => suite(shell));
  }
}

/** The shells in turn, for tests of what does not depend on the shell: each runs in another one of those installed. */
export function* shellsInTurn(): Generator<Shell, never> {
  const installed = shells.filter(({ command }) => hasCommand(command[0]));
  for (;;) yield* installed;
}

export interface ShellRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command without a terminal: in a new session, so that /dev/tty does not open. */
export function runShell(
  [command, ...prefix]: readonly [string, ...string[]],
  args: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string; readonly input?: string },
): Promise<ShellRun> {
  const { promise, resolve, reject } = Promise.withResolvers<ShellRun>();
  const child = spawn(command, [...prefix, ...args], {
    env: options.env,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    detached: true,
    stdio: 'pipe',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  child.on('error', reject).on('close', (status) => resolve({ status, stdout, stderr }));
  return promise;
}
