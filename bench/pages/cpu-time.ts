import { readFile } from 'node:fs/promises';
import type { Database } from '#core/platform/database/database.ts';

/** Unlike elapsed time, it does not depend on what else the machine does. Undefined if the system has no `/proc`. */
export async function readDatabaseCpuMs(database: Pick<Database, 'query'>): Promise<number | undefined> {
  const rows = await database.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database()`,
  );
  const times = await Promise.all(rows.map(({ pid }) => readCpuMs(pid)));
  return times.includes(undefined) ? undefined : times.reduce((sum: number, time) => sum + (time ?? 0), 0);
}

/** 0 if the process has ended. */
async function readCpuMs(pid: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0');
  return Number(text.split(' ', 1).join()) / 1e6;
}
