import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { formatCsvLine } from '#core/platform/csv.ts';
import { syncFolder } from '#core/platform/sync-folder.ts';

const headerLine = 'user,email,account,key\n';

/** A new account's key, which the operator hands out. */
interface KeyLine {
  readonly user: string;
  readonly email: string | undefined;
  /** Account id; undefined until the account is created. */
  readonly account: string | undefined;
  readonly key: string;
}

/**
 * The file of `--keys`, which only its owner can read. Keys are written to disk before their accounts are created, so that a crash loses
 * none. Then the file is rewritten with the account ids and without the keys that were not used.
 */
export class KeysFile {
  readonly #path: string;
  #settledLines = '';

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws CommandFailed if it exists or cannot be written */
  static async create(path: string): Promise<KeysFile> {
    await writeNewFile(path, headerLine);
    return new KeysFile(path);
  }

  /** Adds the keys of accounts that are about to be created. Resolves when they are on disk. */
  writeProposed(lines: readonly KeyLine[]): Promise<void> {
    return this.#replace(this.#settledLines + formatLines(lines));
  }

  /** Replaces the lines proposed last with those of the accounts that were created. */
  async writeSettled(lines: readonly KeyLine[]): Promise<void> {
    this.#settledLines += formatLines(lines);
    await this.#replace(this.#settledLines);
  }

  /**
   * Replaces the file atomically.
   *
   * @throws CommandFailed if the temporary file exists or cannot be written
   */
  async #replace(text: string): Promise<void> {
    const temporaryPath = `${this.#path}.next`;
    await writeNewFile(temporaryPath, headerLine + text);
    await rename(temporaryPath, this.#path);
    await syncFolder(dirname(this.#path));
  }
}

/** Creates a file that only its owner can read. Never overwrites one, which might be a link or readable by others. */
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
