import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { formatCsvLine } from '#core/platform/csv.ts';
import { syncFolder } from '#core/platform/sync-folder.ts';

const headerLine = 'user,email,account,key\n';

interface KeyLine {
  readonly user: string;
  readonly email: string | undefined;
  readonly account: string | undefined; // undefined until the account is created
  readonly key: string;
}

/**
 * Only its owner can read the file. Keys are on disk before their accounts are created, so that a crash loses none. Then the file is
 * rewritten with the account ids and without the keys that were not used.
 */
export class KeysFile {
  readonly #path: string;
  #settledLines = '';

  private constructor(path: string) {
    this.#path = path;
  }

  static async create(path: string): Promise<KeysFile> {
    await writeNewFile(path, headerLine);
    return new KeysFile(path);
  }

  /** Resolves when the keys are on disk. */
  writeProposed(lines: readonly KeyLine[]): Promise<void> {
    return this.#replace(this.#settledLines + formatLines(lines));
  }

  /** Replaces the lines that were proposed last. */
  async writeSettled(lines: readonly KeyLine[]): Promise<void> {
    this.#settledLines += formatLines(lines);
    await this.#replace(this.#settledLines);
  }

  async #replace(text: string): Promise<void> {
    const temporaryPath = `${this.#path}.next`;
    await writeNewFile(temporaryPath, headerLine + text);
    await rename(temporaryPath, this.#path);
    await syncFolder(dirname(this.#path));
  }
}

/** Never overwrites a file, which might be a link or readable by others. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailed(
      `${path} ${error.code === 'EEXIST' ? 'already exists' : `cannot be written (${error.code})`}.`,
    );
  });
  await file.writeFile(text);
  await file.sync();
}

function formatLines(lines: readonly KeyLine[]): string {
  return lines
    .map(({ user, email = '', account = '', key }) => `${formatCsvLine([user, email, account, key])}\n`)
    .join('');
}
