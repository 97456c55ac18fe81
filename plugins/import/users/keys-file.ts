import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { csvLine } from '#core/platform/csv.ts';
import { syncFolder } from '#core/platform/sync-folder.ts';

const head = 'user,email,account,key\n';

/** A new account's key, as the operator hands it out. */
interface KeyLine {
  readonly user: string;
  readonly email: string | undefined;
  /** Undefined while its account is being made. */
  readonly account: string | undefined;
  readonly key: string;
}

/**
 * The file of `--keys`, for its owner alone. Keys are on the disk before their accounts are made, without an account, so that a crash
 * in between loses none; then they are written again with it, and those that were not needed are left out.
 */
export class KeysFile {
  readonly #path: string;
  /** Of the accounts that are made. */
  #done = '';

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws CommandFailed for a file that exists, or cannot be written */
  static async create(path: string): Promise<KeysFile> {
    await write(path, head);
    return new KeysFile(path);
  }

  /** Resolves when keys of accounts that are to be made are safe. */
  propose(lines: readonly KeyLine[]): Promise<void> {
    return this.#replace(this.#done + textOf(lines));
  }

  /** Takes the place of those that were proposed last. */
  async settle(lines: readonly KeyLine[]): Promise<void> {
    this.#done += textOf(lines);
    await this.#replace(this.#done);
  }

  /** At no moment is there a file with less. @throws CommandFailed for a file that exists beside it */
  async #replace(text: string): Promise<void> {
    const next = `${this.#path}.next`;
    await write(next, head + text);
    await rename(next, this.#path);
    await syncFolder(dirname(this.#path));
  }
}

/** Never into a file that is there: others could read it, or it is a link that leads elsewhere. */
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
  return lines.map(({ user, email = '', account = '', key }) => `${csvLine([user, email, account, key])}\n`).join('');
}
