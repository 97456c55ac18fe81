import { open } from 'node:fs/promises';

/** Writes the names of a folder to the disk, so that a file that was made or renamed there outlives a loss of power. */
export async function syncFolder(folder: string): Promise<void> {
  // Systems that open no folders sync none.
  const handle = await open(folder).catch(() => undefined);
  if (handle === undefined) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}
