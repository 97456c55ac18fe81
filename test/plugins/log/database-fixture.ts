import { randomUUID } from 'node:crypto';
import { Keeper } from '#core/extension/keeper.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { createLogStage } from '../../../plugins/log/create-stage.ts';
import { MemoryLog, TemporaryFolder } from './fixture.ts';

interface Row {
  readonly id: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly user_agent: string | null;
}

/** The parts of a host that `log` uses, with its own journal folder. */
export class TestHost implements AsyncDisposable {
  readonly folder = new TemporaryFolder();
  readonly keeper = new Keeper();
  readonly log = new MemoryLog();
  readonly host: Host;

  constructor(database: Database, now: () => number = Date.now) {
    this.host = {
      instance: `test${randomUUID()}`,
      dataFolder: this.folder.path,
      log: this.log,
      database,
      shared: new MemoryShared(),
      now,
      keep: (key, create) => this.keeper.keep(key, create),
      section: createTestHost().section,
    } satisfies Partial<Host> as Partial<Host> as Host;
  }

  createStage(): Stage {
    return createLogStage(
      { keep_days: 30, max_journal_bytes: 1_073_741_824, late_after: 15, content: false, max_content_bytes: 65_536 },
      this.host,
    );
  }

  /** Stops as a process does: all records are in the database then. */
  async stop(): Promise<void> {
    await this.keeper[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.folder[Symbol.dispose]();
  }
}

export function recordsOf(database: Database, ids: readonly string[]): Promise<Row[]> {
  return database.query<Row>('SELECT * FROM request_log WHERE id = ANY(string_to_array(?, ?)) ORDER BY id', [
    ids.join(),
    ',',
  ]);
}

export async function requestCount(database: Database, account: string): Promise<number> {
  const [row] = await database.query<{ request_count: string }>('SELECT request_count FROM account WHERE id = ?', [
    account,
  ]);
  return Number(row?.request_count);
}

/** An `end` line of the journal. */
export function line(account: string, id: string, changes: object = {}): string {
  return JSON.stringify({
    at: 'end',
    id,
    started_at: Date.now(),
    account_id: account,
    method: 'POST',
    path: '/v1/chat/completions',
    endpoint: 'chat',
    is_metered: true,
    outcome: 'answered',
    ...changes,
  });
}
