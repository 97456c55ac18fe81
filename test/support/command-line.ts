import { AsyncLocalStorage } from 'node:async_hooks';
import { runCommandLine } from '#core/process/command-line.ts';

export interface EndedCommand {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

/** Output of the running command, without that of gateways in the same process. */
const running = new AsyncLocalStorage<{ out: string; errors: string }>();

/**
 * Runs `gateway` in this process, which takes milliseconds, while a process takes two seconds. Not suitable for `start`, which installs
 * signal handlers, nor if the loading of the gateway or its exit matters.
 */
export async function runCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<EndedCommand> {
  const printed = { out: '', errors: '' };
  const diverted = [
    divert(process.stdout, 'write', (output, text) => ((output.out += text), true)),
    divert(process.stderr, 'write', (output, text) => ((output.errors += text), true)),
    divert(console, 'error', (output, line) => ((output.errors += `${line}\n`), true)),
  ];
  const before = { ...process.env };
  Object.assign(process.env, environment);
  try {
    const code = await running.run(printed, () => runCommandLine(words));
    return { code, ...printed };
  } finally {
    for (const name of Object.keys(environment)) restore(name, before[name]);
    for (const one of diverted) one[Symbol.dispose]();
  }
}

function divert<Name extends string>(
  writer: Record<Name, (...words: never[]) => unknown>,
  name: Name,
  take: (output: { out: string; errors: string }, text: string) => boolean,
): Disposable {
  const before = Object.getOwnPropertyDescriptor(writer, name);
  const original = writer[name] as (...words: unknown[]) => unknown;
  const value = (...words: unknown[]) => {
    const output = running.getStore();
    return output === undefined ? original.apply(writer, words) : take(output, String(words[0]));
  };
  Object.defineProperty(writer, name, { value, configurable: true, writable: true, enumerable: true });
  return {
    [Symbol.dispose]() {
      if (before === undefined) Reflect.deleteProperty(writer, name);
      else Object.defineProperty(writer, name, before);
    },
  };
}

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}
