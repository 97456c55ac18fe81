import type { Disk } from './contract.ts';
import type { FolderEntry } from './operations.ts';

let listings = 0;

/** Entries of a folder, a few hundred at a time, so that lines need not wait for a large one. @throws DiskSilent */
export async function* listFolder(disk: Disk, folder: string): AsyncGenerator<readonly FolderEntry[]> {
  const id = ++listings;
  let isOver = false;
  try {
    while (!isOver) {
      const step = await disk.ask('list', id, folder);
      ({ isOver } = step);
      yield step.entries;
    }
  } finally {
    if (!isOver) disk.post('endList', id);
  }
}
