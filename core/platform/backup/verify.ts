import { type BackupHead, type BackupSchema, contentOf, DamagedBackup, readFrames } from './frames.ts';

/** Contents of a backup. */
export interface BackupSummary extends BackupHead {
  readonly migrations: readonly string[];
  readonly tables: number;
  readonly rows: number;
  /** Files of records that waited. */
  readonly journalFiles: number;
}

/**
 * Reads all of a backup and compares its checksum. Memory is bounded by one part of it.
 *
 * @throws DamagedBackup with the defect
 */
export async function verifyBackup(path: string): Promise<BackupSummary> {
  let head: BackupHead | undefined;
  let schema: BackupSchema | undefined;
  let [rows, journalFiles, ended] = [0, 0, 0];
  for await (const frame of readFrames(path)) {
    if (frame.type === 'H') head = requireKnown(contentOf<BackupHead>(frame));
    else if (frame.type === 'J') journalFiles++;
    else if (frame.type === 'S') schema = contentOf<BackupSchema>(frame);
    else if (frame.type === 'E') {
      rows += contentOf<{ readonly rows: number }>(frame).rows;
      ended++;
    }
  }
  if (head === undefined || schema === undefined || ended !== schema.tables.length)
    throw new DamagedBackup(`${path} is incomplete: tables are missing`);
  return { ...head, migrations: schema.migrations, tables: ended, rows, journalFiles };
}

function requireKnown(head: BackupHead): BackupHead {
  if (head.format === 1) return head;
  throw new DamagedBackup(
    `the backup has the format ${String(head.format)}; restore it with the version that made it, ${head.version}`,
  );
}
