import { dirname, join } from 'node:path';
import { loadEnvFile } from 'node:process';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { exitCodes } from '#core/platform/exit-codes.ts';

let addedNames: readonly string[] = [];

/**
 * Loads the variables in the file `.env` next to gateway.yaml, if there is one, into the environment. Variables that are already set take
 * precedence.
 *
 * @param file path of gateway.yaml
 * @throws CommandFailed if `.env` exists but cannot be read
 */
export function loadEnvironmentFile(file: string): void {
  const path = join(dirname(file), '.env');
  const previousEnvironment = { ...process.env };
  try {
    loadEnvFile(path);
    addedNames = Object.keys(process.env).filter((name) => !(name in previousEnvironment));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return;
    throw new CommandFailed(
      `${path} cannot be read (${code}); make it readable for the user of the gateway`,
      exitCodes.configuration,
    );
  }
}

/** Returns the environment for a child process that reads the file itself. */
export function environmentWithoutFile(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !addedNames.includes(name)));
}
