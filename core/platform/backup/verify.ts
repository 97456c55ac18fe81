import { type BackupHead, type BackupSchema, parseFrameContent, DamagedBackup, readFrames } from './frames.ts';

export interface BackupSummary extends BackupHead {
  readonly migrations: readonly string[];
  readonly tables: number;
  readonly rows: number;
  readonly journalFiles: number;
}

/**
 * Reads a whole backup and verifies its checksum. Memory is bounded by one frame.
 *
 * @throws DamagedBackup with the defect
 */
export async function verifyBackup(path: string): Promise<BackupSummary> {
  let head: BackupHead | undefined;
  let schema: BackupSchema | undefined;
  let rows = 0;
  let journalFiles = 0;
  let tables = 0;
  for await (const frame of readFrames(path)) {
    if (frame.type === 'H') head = requireKnownFormat(parseFrameContent<BackupHead>(frame));
    else if (frame.type === 'J') journalFiles++;
    else if (frame.type === 'S') schema = parseFrameContent<BackupSchema>(frame);
    else if (frame.type === 'E') {
      rows += parseFrameContent<{ readonly rows: number }>(frame).rows;
      tables++;
    }
  }
  if (head === undefined || schema === undefined || tables !== schema.tables.length)
    throw new DamagedBackup(`${path} is incomplete: tables are missing`);
  return { ...head, migrations: schema.migrations, tables, rows, journalFiles };
}

function requireKnownFormat(head: BackupHead): BackupHead {
  if (head.format === 1) return head;
  throw new DamagedBackup(
    `the backup uses format ${String(head.format)}; restore it with the version that created it, ${head.version}`,
  );
}
