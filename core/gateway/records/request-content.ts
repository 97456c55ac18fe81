import type { Database } from '#core/platform/database/database.ts';
import { timestamp } from './filter.ts';
import { timeOfRequestId } from './request-id.ts';

/** True when the prompt or the reply of a request is on record: `log: { content: true }`. Reads one partition. */
export async function isContentKept(database: Pick<Database, 'query'>, id: string): Promise<boolean> {
  const startedAt = timeOfRequestId(id);
  if (startedAt === undefined) return false;
  const rows = await database.query('SELECT 1 FROM request_content WHERE started_at = ? AND id = ? LIMIT 1', [
    timestamp(startedAt),
    id,
  ]);
  return rows.length > 0;
}
