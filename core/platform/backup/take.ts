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
import { backupName, listBackups } from './backup-files.ts';
import { type Frame, jsonFrame, magic, writeFrames } from './frames.ts';
import { copySession, quoteTable, readSchema, readSequences } from './schema.ts';
import { type BackupSummary, verifyBackup } from './verify.ts';

/** Bytes of backup per byte of the database, until a first backup exists. Measured: a quarter. */
const usualRatio = 0.4;
const growth = 1.5; // relative to the last backup
const maxFrameBytes = 1_048_576;
const connectTimeoutMs = 10_000;
/** Ms to wait for a table lock. */
const lockTimeoutMs = 60_000;
const stallTimeoutMs = 180_000; // without progress of the copy

interface BackupOptions {
  readonly databaseUrl: string;
  /** Folder of journal files; skipped if it does not exist. */
  readonly journalFolder: string;
  readonly to: string; // folder, created if missing
  readonly minFreeBytes: number; // to keep free on its disk
  readonly now: Date;
  readonly signal?: AbortSignal;
}

export interface TakenBackup extends BackupSummary {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Writes a consistent backup while the gateway runs: the records in the journal, then all tables as of one moment. The file gets its final
 * name once it is complete, synced, and verified.
 *
 * @throws Error with a remedy; nothing is leftovers behind
 */
export async function takeBackup(options: BackupOptions): Promise<TakenBackup> {
  const { to, now, databaseUrl } = options;
  await mkdir(to, { recursive: true, mode: 0o700 });
  await removeUnfinished(to);
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'daypass-backup',
    keepAlive: true,
  });
  let lost: Error | undefined;
  client.on('error', (error) => (lost ??= error));
  await client.connect();
  const path = join(to, backupName(now));
  const unfinished = `${path}.unfinished`;
  try {
    await requireSpace(client, options);
    await write(unfinished, framesOf(client, options), options.signal);
    const summary = await verifyBackup(unfinished);
    await rename(unfinished, path);
    await syncFolder(to);
    await using file = await open(path);
    const { size: bytes } = await file.stat();
    return { ...summary, path, bytes };
  } catch (error) {
    await rm(unfinished, { force: true });
    throw explain(lost ?? error, to);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Removes files leftovers by a killed process. A backup running at this moment fails, and is retried. */
async function removeUnfinished(folder: string): Promise<void> {
  const found = await readdir(folder);
  const leftovers = found.filter((name) => name.startsWith('daypass-') && name.endsWith('.backup.unfinished'));
  // One at a time, because each occupies a thread of the pool while the disk does not respond.
  for (const name of leftovers) await rm(join(folder, name), { force: true });
}

async function requireSpace(client: pg.Client, { to, minFreeBytes }: BackupOptions): Promise<void> {
  const { rows } = await client.query<{ bytes: number }>(
    'select pg_database_size(current_database())::float8 as bytes',
  );
  const latest = (await listBackups(to)).at(-1);
  const lastBytes = latest === undefined ? undefined : await readFileSize(join(to, latest));
  const expectedBytes = lastBytes === undefined ? (rows[0]?.bytes ?? 0) * usualRatio : lastBytes * growth;
  const { bavail, bsize } = await statfs(to);
  const free = bavail * bsize;
  if (free - expectedBytes >= minFreeBytes) return;
  throw new Error(
    `the disk of ${to} has ${megabytes(free)} MB free, and a backup may take ${megabytes(expectedBytes)} MB besides data.min_free_bytes. Free some space, keep fewer backups, or set backup.to to another disk.`,
  );
}

function megabytes(bytes: number): number {
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

async function write(path: string, frames: AsyncIterable<Frame>, signal: AbortSignal | undefined): Promise<void> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  file.write(magic);
  const stalled = new AbortController();
  using watch = new StallWatch(() => stalled.abort(new Error(`no progress for ${stallTimeoutMs / 1000} s`)));
  const signals = AbortSignal.any([stalled.signal, ...(signal === undefined ? [] : [signal])]);
  await pipeline(Readable.from(watch.pass(writeFrames(frames))), compress, file, { signal: signals }).catch(
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

  async *pass<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const item of items) {
      this.#timer.restart();
      yield item;
    }
  }

  [Symbol.dispose](): void {
    this.#timer.stop();
  }
}

async function* framesOf(client: pg.Client, { journalFolder, now }: BackupOptions): AsyncGenerator<Frame> {
  yield jsonFrame('H', { format: 1, version, created_at: now.toISOString() });
  // Before the snapshot: a record stored meanwhile is in one of the two, or in both, which a restore detects by its id.
  yield* journalFrames(journalFolder);
  await client.query(copySession);
  await client.query(`set lock_timeout = ${lockTimeoutMs}`);
  await client.query('begin isolation level repeatable read read only');
  const schema = await readSchema(client);
  yield jsonFrame('S', schema);
  for (const table of schema.tables) {
    yield jsonFrame('T', { name: table.name });
    const copy = copyOut(client, `copy ${quoteTable(table)} to stdout`);
    for await (const chunk of copy.chunks)
      for (let at = 0; at < chunk.length; at += maxFrameBytes)
        yield { type: 'D', content: chunk.subarray(at, at + maxFrameBytes) };
    yield jsonFrame('E', { rows: copy.rows() });
  }
  yield jsonFrame('Q', await readSequences(client));
  await client.query('commit');
}

async function* journalFrames(folder: string): AsyncGenerator<Frame> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.filter((candidate) => candidate.isFile() && !candidate.name.endsWith('.lock'))) {
    // If it is gone, its records were stored, and are in the snapshot.
    const file = await open(join(folder, entry.name)).catch(() => undefined);
    if (file === undefined) continue;
    try {
      const { size } = await file.stat();
      yield jsonFrame('J', { name: entry.name });
      for await (const content of file.createReadStream({ end: Math.max(0, size - 1), autoClose: false }))
        yield { type: 'D', content: content as Buffer };
    } finally {
      await file.close();
    }
  }
}

function explain(error: unknown, to: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new Error(`the disk of ${to} became full. Free some space, or set backup.to to another disk.`, {
      cause: error,
    });
  if (code === 'EACCES' || code === 'EROFS')
    return new Error(`${to} cannot be written. Make it writable for the user of the gateway.`, { cause: error });
  return error;
}
