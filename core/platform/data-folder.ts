import { access, constants, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** @throws Error with instructions if the folder cannot be created or written */
export async function prepareDataFolder(folder: string): Promise<void> {
  try {
    await createFolder(folder);
    await access(folder, constants.W_OK);
  } catch (cause) {
    const hint = "Make it writable for this process's user, or set another data.folder.";
    throw new Error(`The data folder ${folder} is not writable. ${hint}`, { cause });
  }
}

/** Adds the folder's path to an error about a full disk; the system's message lacks it. Returns other errors unchanged. */
export function explainFullDisk(error: unknown, folder: string): unknown {
  const isFull = error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT'].includes(String(error.code));
  if (!isFull) return error;
  return new Error(`The disk of the data folder ${folder} is full. Free some space, then try again.`, { cause: error });
}

/** With `recursive`, `mkdir` never returns on a file system such as /proc. */
async function createFolder(folder: string): Promise<void> {
  if ((await stat(folder).catch(() => undefined))?.isDirectory() === true) return;
  const parent = dirname(folder);
  if (parent !== folder) await createFolder(parent);
  await mkdir(folder).catch(async (error: unknown) => {
    // Another process may have created it in the meantime.
    if ((await stat(folder).catch(() => undefined))?.isDirectory() !== true) throw error;
  });
}
