import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import pg from 'pg';
import { copyOut } from '../database/copy.ts';
import { syncFolder } from '../sync-folder.ts';
import { LagTolerantTimer } from '../timing/lag-tolerant-timer.ts';
import { version } from '../version.ts';
import { createBackupName, listBackups } from './backup-files.ts';
import { type Frame, createJsonFrame, magic, writeFrames } from './frames.ts';
import { copySession, quoteTable, readSchema, readSequences } from './schema.ts';
import { type BackupSummary, verifyBackup } from './verify.ts';

const defaultRatio = 0.4; // estimated size of the first backup relative to the database; measured: 0.25
const growthFactor = 1.5; // relative to the last backup
const maxFrameBytes = 1_048_576;
const connectTimeoutMs = 10_000;
const lockTimeoutMs = 60_000; // for each table
const stallTimeoutMs = 180_000; // without copy progress

interface BackupOptions {
  readonly databaseUrl: string;
  readonly journalFolder: string; // skipped if missing
  readonly folder: string;
  readonly minFreeBytes: number; // that must remain free on the folder's disk
  readonly now: Date;
  readonly signal?: AbortSignal;
}

export interface TakenBackup extends BackupSummary {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Writes a consistent backup while the gateway runs: the records in the journal, then a snapshot of all tables. The file gets its final
 * name once it is complete, synced and verified.
 *
 * @throws Error with a remedy; the unfinished file is removed
 */
export async function takeBackup(options: BackupOptions): Promise<TakenBackup> {
  const { folder, now, databaseUrl } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeUnfinished(folder);
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'daypass-backup',
    keepAlive: true,
  });
  let connectionError: Error | undefined;
  client.on('error', (error) => (connectionError ??= error));
  await client.connect();
  const path = join(folder, createBackupName(now));
  const unfinishedPath = `${path}.unfinished`;
  try {
    await requireSpace(client, options);
    await writeFrameFile(unfinishedPath, createFrames(client, options), options.signal);
    const summary = await verifyBackup(unfinishedPath);
    await rename(unfinishedPath, path);
    await syncFolder(folder);
    await using file = await open(path);
    const { size: bytes } = await file.stat();
    return { ...summary, path, bytes };
  } catch (error) {
    await rm(unfinishedPath, { force: true });
    throw explainFailure(connectionError ?? error, folder);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** If a backup is running in another process, it loses its file, fails, and is retried. */
async function removeUnfinished(folder: string): Promise<void> {
  const names = await readdir(folder);
  const leftovers = names.filter((name) => name.startsWith('daypass-') && name.endsWith('.backup.unfinished'));
  // One at a time, because each occupies a thread of the pool if the disk does not respond.
  for (const name of leftovers) await rm(join(folder, name), { force: true });
}

async function requireSpace(client: pg.Client, { folder, minFreeBytes, now }: BackupOptions): Promise<void> {
  const { rows } = await client.query<{ bytes: number }>(
    'select pg_database_size(current_database())::float8 as bytes',
  );
  const latestName = (await listBackups(folder, now.getTime())).at(-1);
  const lastBytes = latestName === undefined ? undefined : await readFileSize(join(folder, latestName));
  const expectedBytes = lastBytes === undefined ? (rows[0]?.bytes ?? 0) * defaultRatio : lastBytes * growthFactor;
  const { bavail, bsize } = await statfs(folder);
  const freeBytes = bavail * bsize;
  if (freeBytes - expectedBytes >= minFreeBytes) return;
  throw new Error(
    `the disk of ${folder} has ${toMegabytes(freeBytes)} MB free, and a backup may take ${toMegabytes(expectedBytes)} MB in addition to data.min_free_bytes. Free some space, keep fewer backups, or set backup.to to another disk.`,
  );
}

function toMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}

async function readFileSize(path: string): Promise<number | undefined> {
  try {
    await using file = await open(path);
    return (await file.stat()).size;
  } catch {
    return undefined;
  }
}

async function writeFrameFile(
  path: string,
  frames: AsyncIterable<Frame>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  file.write(magic);
  const stallController = new AbortController();
  using stallWatch = new StallWatch(() =>
    stallController.abort(new Error(`no progress for ${stallTimeoutMs / 1000} s`)),
  );
  const signals = AbortSignal.any([stallController.signal, ...(signal === undefined ? [] : [signal])]);
  await pipeline(Readable.from(stallWatch.watch(writeFrames(frames))), compress, file, { signal: signals }).catch(
    (error: unknown) => {
      throw signals.aborted ? signals.reason : error;
    },
  );
}

class StallWatch implements Disposable {
  readonly #timer: LagTolerantTimer;

  constructor(onStall: () => void) {
    this.#timer = new LagTolerantTimer(onStall);
    this.#timer.start(stallTimeoutMs);
  }

  async *watch<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const item of items) {
      this.#timer.restart();
      yield item;
    }
  }

  [Symbol.dispose](): void {
    this.#timer.stop();
  }
}

async function* createFrames(client: pg.Client, { journalFolder, now }: BackupOptions): AsyncGenerator<Frame> {
  yield createJsonFrame('H', { format: 1, version, created_at: now.toISOString() });
  // Read before the snapshot, so that a record stored in between is in at least one of them. A restore detects duplicates by id.
  yield* createJournalFrames(journalFolder);
  await client.query(copySession);
  await client.query(`set lock_timeout = ${lockTimeoutMs}`);
  await client.query('begin isolation level repeatable read read only');
  const schema = await readSchema(client);
  yield createJsonFrame('S', schema);
  for (const table of schema.tables) {
    yield createJsonFrame('T', { name: table.name });
    const copy = copyOut(client, `copy ${quoteTable(table)} to stdout`);
    for await (const chunk of copy.chunks)
      for (let offset = 0; offset < chunk.length; offset += maxFrameBytes)
        yield { type: 'D', content: chunk.subarray(offset, offset + maxFrameBytes) };
    yield createJsonFrame('E', { rows: copy.rows() });
  }
  yield createJsonFrame('Q', await readSequences(client));
  await client.query('commit');
}

async function* createJournalFrames(folder: string): AsyncGenerator<Frame> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.filter((candidate) => candidate.isFile() && !candidate.name.endsWith('.lock'))) {
    // If the file is gone, its records have been stored and are in the snapshot.
    const file = await open(join(folder, entry.name)).catch(() => undefined);
    if (file === undefined) continue;
    try {
      const { size } = await file.stat();
      yield createJsonFrame('J', { name: entry.name });
      for await (const content of file.createReadStream({ end: Math.max(0, size - 1), autoClose: false }))
        yield { type: 'D', content: content as Buffer };
    } finally {
      await file.close();
    }
  }
}

function explainFailure(error: unknown, folder: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Error(`the disk of ${folder} became full. Free some space, or set backup.to to another disk.`, {
      cause: error,
    });
  if (code === 'EACCES' || code === 'EROFS')
    return new Error(`${folder} cannot be written. Make it writable for the gateway's user.`, { cause: error });
  return error;
}
