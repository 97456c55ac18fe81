import type { Disk } from './contract.ts';
import type { FolderEntry } from './operations.ts';

let lastListingId = 0;

/** Lists the entries in steps, so that lines do not have to wait for a large folder. */
export async function* listFolder(disk: Disk, folder: string): AsyncGenerator<readonly FolderEntry[]> {
  const id = ++lastListingId;
  let isOver = false;
  try {
    while (!isOver) {
      const step = await disk.run('list', id, folder);
      ({ isOver } = step);
      yield step.entries;
    }
  } finally {
    if (!isOver) disk.post('endList', id);
  }
}
