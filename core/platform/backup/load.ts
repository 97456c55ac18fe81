import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pg from 'pg';
import { copyIn } from '../database/copy.ts';
import { quoteName } from '../database/rows.ts';
import {
  type BackupSchema,
  type BackupTable,
  parseFrameContent,
  DamagedBackup,
  type Frame,
  readFrames,
} from './frames.ts';
import { copySession, quoteTable } from './schema.ts';

interface LoadOptions {
  readonly path: string;
  readonly databaseUrl: string; // has only the tables that the backup's migrations created
  readonly journalFolder: string; // the next start stores its records
  onTable(name: string): void; // called before each table
}

/**
 * Fills the tables from a backup in one transaction. Triggers do not fire, because the backup contains their effects. Foreign keys are
 * checked.
 *
 * @returns the number of rows
 * @throws DamagedBackup, or PostgreSQL's error
 */
export async function loadBackup({ path, databaseUrl, journalFolder, onTable }: LoadOptions): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'daypass-restore', keepAlive: true });
  client.on('error', () => undefined);
  await client.connect();
  const frames = readFrames(path);
  try {
    await client.query(copySession);
    await client.query('begin');
    const rows = await loadFrames(client, new FrameReader(frames), { journalFolder, onTable });
    await client.query('commit');
    await client.query('analyze');
    return rows;
  } finally {
    await frames.return(undefined);
    await client.end().catch(() => undefined);
  }
}

class FrameReader {
  readonly #frames: AsyncGenerator<Frame>;
  #pendingFrame: Frame | undefined;

  constructor(frames: AsyncGenerator<Frame>) {
    this.#frames = frames;
  }

  async next(): Promise<Frame | undefined> {
    const frame = this.#pendingFrame ?? (await this.#read());
    this.#pendingFrame = undefined;
    return frame;
  }

  async *readData(): AsyncGenerator<Buffer> {
    for (;;) {
      const frame = await this.#read();
      if (frame?.type !== 'D') {
        this.#pendingFrame = frame;
        return;
      }
      yield frame.content;
    }
  }

  async #read(): Promise<Frame | undefined> {
    const { value, done } = await this.#frames.next();
    return done === true ? undefined : value;
  }
}

async function loadFrames(
  client: pg.Client,
  reader: FrameReader,
  { journalFolder, onTable }: Pick<LoadOptions, 'journalFolder' | 'onTable'>,
): Promise<number> {
  let tables = new Map<string, BackupTable>();
  let total = 0;
  for (let frame = await reader.next(); frame !== undefined; frame = await reader.next()) {
    switch (frame.type) {
      case 'J':
        await writeJournal(journalFolder, parseFrameContent<{ name: string }>(frame).name, reader);
        break;
      case 'S':
        tables = await prepareTables(client, parseFrameContent<BackupSchema>(frame));
        break;
      case 'T': {
        const { name } = parseFrameContent<{ name: string }>(frame);
        const table = tables.get(name);
        if (table === undefined) throw new DamagedBackup(`the backup contains rows for an unknown table, ${name}`);
        onTable(name);
        total += await fillTable(client, table, reader);
        break;
      }
      case 'Q':
        await setSequences(client, parseFrameContent<Record<string, string>>(frame));
    }
  }
  for (const name of tables.keys()) await client.query(`alter table ${quoteName(name)} enable trigger user`);
  return total;
}

async function prepareTables(client: pg.Client, { tables }: BackupSchema): Promise<Map<string, BackupTable>> {
  for (const { name, partition } of tables) {
    if (partition === undefined) continue;
    // The bound is a PostgreSQL expression. It is trusted, because the file's checksum has been verified.
    await client.query(
      `create table if not exists ${quoteName(name)} partition of ${quoteName(partition.of)} ${partition.bound}`,
    );
  }
  // Disabled before the truncation, which some triggers would reject.
  for (const { name } of tables) await client.query(`alter table ${quoteName(name)} disable trigger user`);
  // Migrations may have added rows.
  const names = tables.map(({ name }) => quoteName(name)).join(', ');
  if (names !== '') await client.query(`truncate ${names}`);
  return new Map(tables.map((table) => [table.name, table]));
}

async function fillTable(client: pg.Client, table: BackupTable, reader: FrameReader): Promise<number> {
  const rows = await copyIn(client, `copy ${quoteTable(table)} from stdin`, reader.readData());
  const end = await reader.next();
  const expected = end?.type === 'E' ? parseFrameContent<{ rows: number }>(end).rows : undefined;
  if (rows !== expected)
    throw new DamagedBackup(
      `table ${table.name}: ${rows} rows were stored, but the backup states ${expected ?? 'no count'}`,
    );
  return rows;
}

async function setSequences(client: pg.Client, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(values))
    await client.query('select setval($1::regclass, $2::bigint)', [quoteName(name), value]);
}

async function writeJournal(folder: string, name: string, reader: FrameReader): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = createWriteStream(join(folder, basename(name)), { flags: 'w', mode: 0o600 });
  for await (const chunk of reader.readData()) if (!file.write(chunk)) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
}
