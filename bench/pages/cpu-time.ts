import { readFile } from 'node:fs/promises';
import type { Database } from '#core/platform/database/database.ts';

/**
 * CPU time, in ms, that the database's processes for the gateway have used so far: what is left of a page's time on a machine that
 * does other things too. Undefined where the system has no `/proc`.
 */
export async function databaseCpu(database: Pick<Database, 'query'>): Promise<number | undefined> {
  const rows = await database.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database()`,
  );
  const times = await Promise.all(rows.map(({ pid }) => cpuOf(pid)));
  return times.includes(undefined) ? undefined : times.reduce((sum: number, time) => sum + (time ?? 0), 0);
}

/** Ms; 0 for a process that has ended. */
async function cpuOf(pid: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0');
  return Number(text.split(' ', 1).join()) / 1e6;
}
