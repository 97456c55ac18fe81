import { open } from 'node:fs/promises';

/** Flushes a folder's entries to the disk, so that files created or renamed in it survive a power loss. Never rejects. */
export async function syncFolder(folder: string): Promise<void> {
  // Some systems, such as Windows, cannot open folders.
  const handle = await open(folder).catch(() => undefined);
  if (handle === undefined) return;
  await handle.sync().catch(() => undefined);
  await handle.close().catch(() => undefined);
}
