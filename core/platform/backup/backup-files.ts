import { readdir } from 'node:fs/promises';

const namePattern = /^daypass-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/;

/** Creates the file name of a backup: `daypass-20261126T031700Z.backup`. */
export function createBackupName(time: Date): string {
  return `daypass-${time.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z.backup`;
}

function parseBackupTime(name: string): number | undefined {
  const [, year, month, day, hour, minute, second] = namePattern.exec(name) ?? [];
  return year === undefined ? undefined : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

const maxClockDifferenceMs = 3_600_000; // between the clocks of instances that share a folder

/**
 * Lists the names of the backups in a folder, oldest first. Backups dated in the future come first: they were taken before the clock was
 * set back, and would prevent further backups if they counted as the newest.
 */
export async function listBackups(folder: string, now: number): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const backups = names.filter((name) => parseBackupTime(name) !== undefined).toSorted();
  const isAhead = (name: string) => (parseBackupTime(name) ?? 0) > now + maxClockDifferenceMs;
  return [...backups.filter(isAhead), ...backups.filter((name) => !isAhead(name))];
}

/** Finds the newest backup in a folder, ignoring those dated in the future. */
export async function findNewestBackup(
  folder: string,
  now: number,
): Promise<{ readonly name: string; readonly at: number } | undefined> {
  const name = (await listBackups(folder, now)).at(-1);
  const at = name === undefined ? undefined : parseBackupTime(name);
  return name === undefined || at === undefined || at > now + maxClockDifferenceMs ? undefined : { name, at };
}
