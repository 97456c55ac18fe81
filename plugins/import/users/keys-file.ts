import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { formatCsvLine } from '#core/platform/csv.ts';
import { syncFolder } from '#core/platform/sync-folder.ts';

const head = 'user,email,account,key\n';

/** A new account's key, which the operator hands out. */
interface KeyLine {
  readonly user: string;
  readonly email: string | undefined;
  /** Account id; undefined until the account is created. */
  readonly account: string | undefined;
  readonly key: string;
}

/**
 * The file of `--keys`, readable by the owner only. Keys are written to disk before their accounts are created, without an account, so that
 * a crash in between loses no keys. Then the file is rewritten with the account ids and without unused keys.
 */
export class KeysFile {
  readonly #path: string;
  /** Lines of created accounts. */
  #done = '';

  private constructor(path: string) {
    this.#path = path;
  }

  /** Creates the file. @throws CommandFailed if it exists or cannot be written */
  static async create(path: string): Promise<KeysFile> {
    await write(path, head);
    return new KeysFile(path);
  }

  /** Adds the keys of accounts that are about to be created. Resolves when they are on disk. */
  propose(lines: readonly KeyLine[]): Promise<void> {
    return this.#replace(this.#done + textOf(lines));
  }

  /** Replaces the last proposed lines with the lines of created accounts. */
  async settle(lines: readonly KeyLine[]): Promise<void> {
    this.#done += textOf(lines);
    await this.#replace(this.#done);
  }

  /** Replaces the file atomically. @throws CommandFailed if the temporary file exists or cannot be written */
  async #replace(text: string): Promise<void> {
    const next = `${this.#path}.next`;
    await write(next, head + text);
    await rename(next, this.#path);
    await syncFolder(dirname(this.#path));
  }
}

/** Creates a file. Never overwrites an existing one, because it might be readable by others or be a link. */
async function write(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailed(
      `${path} ${error.code === 'EEXIST' ? 'exists already' : `cannot be written (${error.code})`}.`,
    );
  });
  await file.writeFile(text);
  await file.sync();
}

function textOf(lines: readonly KeyLine[]): string {
  return lines
    .map(({ user, email = '', account = '', key }) => `${formatCsvLine([user, email, account, key])}\n`)
    .join('');
}
