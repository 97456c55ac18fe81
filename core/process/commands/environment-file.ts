import { dirname, join } from 'node:path';
import { loadEnvFile } from 'node:process';
import { CommandFailed } from '#core/extension/commands/command.ts';

/**
 * Adds the variables of the file `.env` beside gateway.yaml, if there is one, to the environment. Those that are set already win:
 * a supervisor, a container or a shell knows better than a file.
 *
 * @param file path of gateway.yaml
 * @throws CommandFailed when the file exists and cannot be read
 */
export function loadEnvironmentFile(file: string): void {
  const path = join(dirname(file), '.env');
  try {
    loadEnvFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return;
    throw new CommandFailed(`${path} cannot be read (${code}); make it readable for the user of the gateway`);
  }
}
