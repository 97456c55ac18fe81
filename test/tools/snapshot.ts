import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Everything below a folder: type, mode and content of each entry, by its path in the folder. */
export type Snapshot = ReadonlyMap<string, string>;

export async function takeSnapshot(folder: string): Promise<Snapshot> {
  const names = await readdir(folder, { recursive: true });
  const entries = names.toSorted().map(async (name) => [name, await describe(join(folder, name))] as const);
  return new Map([['.', await describe(folder)], ...(await Promise.all(entries))]);
}

/** One line for each entry that is not as it was. */
export function compareSnapshots(before: Snapshot, after: Snapshot): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === is) return [];
    if (was === undefined) return [`${name} is new (${is})`];
    return [is === undefined ? `${name} is gone (${was})` : `${name} was ${was}, is ${is}`];
  });
}

async function describe(path: string): Promise<string> {
  const status = await lstat(path);
  const mode = (status.mode & 0o7777).toString(8);
  if (status.isSymbolicLink()) return `link to ${await readlink(path)}`;
  if (!status.isFile()) return `${status.isDirectory() ? 'folder' : 'special file'} ${mode}`;
  const digest = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  return `file ${mode}, ${status.size} bytes, ${digest.slice(0, 12)}`;
}
