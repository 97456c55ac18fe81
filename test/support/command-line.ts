import { vi } from 'vitest';
import { runCommandLine } from '#core/process/command-line.ts';

/** How a command of `gateway` has ended. */
export interface EndedCommand {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

/**
 * Runs `gateway` in this process, which takes milliseconds where a process takes two seconds. Not for `start`, which installs
 * handlers of signals, and not where the loading of the gateway or its exit matters.
 *
 * @param environment variables while it runs
 */
export async function runCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<EndedCommand> {
  let [out, errors] = ['', ''];
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true)),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((errors += String(text)), true)),
    vi.spyOn(console, 'error').mockImplementation((line) => void (errors += `${String(line)}\n`)),
  ];
  const before = { ...process.env };
  Object.assign(process.env, environment);
  try {
    const code = await runCommandLine(words);
    return { code, out, errors };
  } finally {
    for (const name of Object.keys(environment)) restore(name, before[name]);
    for (const spy of spies) spy.mockRestore();
  }
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
