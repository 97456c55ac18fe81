import { readdir } from 'node:fs/promises';

const namePattern = /^daypass-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/;

/** Creates the file name of a backup: `daypass-20261126T031700Z.backup`. */
export function createBackupName(time: Date): string {
  return `daypass-${time.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.backup`;
}

/** Parses the time (epoch ms) in the name of a backup; undefined for other files, including unfinished backups. */
export function parseBackupTime(name: string): number | undefined {
  const [, year, month, day, hour, minute, second] = namePattern.exec(name) ?? [];
  return year === undefined ? undefined : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Lists the names of the backups in a folder, oldest first. */
export async function listBackups(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => parseBackupTime(name) !== undefined).toSorted();
}
