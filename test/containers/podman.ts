import { execFile, spawnSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

interface Tried {
  readonly code: number;
  readonly output: string;
}

const limits = { maxBuffer: 64 * 1024 * 1024, timeout: 900_000 };

/** Never throws: the exit code says how it went. */
export async function tries(program: string, words: readonly string[], cwd?: string): Promise<Tried> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, words, { ...limits, cwd });
    return { code: 0, output: `${stdout}${stderr}`.trim() };
  } catch (error) {
    const {
      code,
      stdout = '',
      stderr = '',
      message,
    } = error as Error & { code?: unknown; stdout?: string; stderr?: string };
    return { code: typeof code === 'number' ? code : -1, output: `${stdout}${stderr}`.trim() || message };
  }
}

/** @throws Error with what the command has printed, when it fails */
export async function exec(program: string, words: readonly string[], cwd?: string): Promise<string> {
  const { code, output } = await tries(program, words, cwd);
  if (code !== 0) throw new Error(`${program} ${words.join(' ')}: ${code}\n${output}`);
  return output;
}

export const podman = (...words: string[]) => exec('podman', words);

/** @throws Error when it is not so within five minutes */
export async function waitFor(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 300_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what} is not healthy after five minutes`);
    await setTimeout(500);
  }
}

/**
 * Runs this program again in a separate network namespace, where the ports of compose.yaml are free.
 *
 * @returns its exit code
 */
export function reenter(): number {
  const script = `ip link set lo up
sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.route_localnet=1
exec "$@"`;
  const words = ['--net', '--', 'bash', '-c', script, 'namespace', process.execPath, ...process.argv.slice(1)];
  const { status } = spawnSync('unshare', words, { stdio: 'inherit', env: { ...process.env, DAYPASS_NAMESPACE: '1' } });
  return status ?? 1;
}
