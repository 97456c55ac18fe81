import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A copy of the project in which one file at a time is changed. */
export class Tree implements AsyncDisposable {
  readonly root: string;
  /** For the temporary files of tests. */
  readonly temporary: string;

  private constructor(root: string) {
    this.root = root;
    this.temporary = join(root, 't');
  }

  /** Copies what git knows, changes that are not committed included. */
  static async copy(from: string): Promise<Tree> {
    const root = await mkdtemp(join(tmpdir(), 'mutation-'));
    // Tests run servers as other users, which must be able to enter.
    await chmod(root, 0o755);
    const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: from });
    for (const file of list.toString().split('\0').filter(Boolean)) await copyFile(from, root, file);
    await symlink(join(from, 'node_modules'), join(root, 'node_modules'));
    return new Tree(root);
  }

  /** Changes a file while `run` is running. */
  async with<T>(file: string, source: string, run: () => Promise<T>): Promise<T> {
    const path = join(this.root, file);
    const original = await readFile(path);
    await writeFile(path, source);
    try {
      return await run();
    } finally {
      await writeFile(path, original);
    }
  }

  /** Removes what a test that was ended has left. */
  async clean(): Promise<void> {
    await rm(this.temporary, { recursive: true, force: true });
    await mkdir(this.temporary);
    await chmod(this.temporary, 0o777);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}

async function copyFile(from: string, to: string, file: string): Promise<void> {
  await mkdir(dirname(join(to, file)), { recursive: true });
  // A file that was deleted but is still in the index.
  await cp(join(from, file), join(to, file)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}
