import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adapter, principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Adapter } from '#core/gateway/model-call/adapter.ts';
import { type Endpoint, Exchange, type ExchangeInit } from '#core/gateway/pipeline/exchange.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import type { UnauthenticatedCount } from '#core/gateway/records/unauthenticated.ts';
import type { Logger } from '#core/platform/logger.ts';
import { getActiveLog as openState } from '../../../plugins/log/active-log.ts';
import type { RecordStore } from '../../../plugins/log/record-store.ts';
import { RequestLog, type RequestLogOptions } from '../../../plugins/log/request-log.ts';
import { descriptors } from '../../support/formats.ts';
import { InlineDisk } from './inline-disk.ts';

export const chat: Endpoint = {
  name: 'chat',
  method: 'POST',
  path: '/v1/chat/completions',
  format: descriptors.chat,
  isMetered: true,
};

export const accountId = '0193d0a2-1111-7222-8333-123456789abc';

let count = 0;

/** A request that has just come. */
export function arrive(init: Partial<ExchangeInit> = {}): Exchange {
  return new Exchange({
    id: `req_${(++count).toString(16).padStart(32, '0')}`,
    endpoint: chat,
    params: {},
    dialect: 'openai',
    method: 'POST',
    path: '/v1/chat/completions',
    query: new URLSearchParams(),
    headers: { 'user-agent': 'OpenAI/JS 7.55.0', 'content-length': '1200' },
    remoteAddress: '203.0.113.7',
    receivedAt: Date.now(),
    body: { bytes: unread, text: unread, json: unread },
    ...init,
  });
}

/** States what the stages before `log` find out. */
export function identify(exchange: Exchange, account: string = accountId): Exchange {
  exchange.set(principal, {
    accountId: account,
    keyId: 'key',
    keyHint: 'dp-a1b2…wxyz',
    limits: undefined,
    requestCount: 0,
  });
  exchange.set(adapter, { model: { publicName: 'gpt-6-sol' }, modelName: 'gpt-6-sol', isStream: false } as Adapter);
  return exchange;
}

export function outcome(changes: Partial<Outcome> = {}): Outcome {
  return {
    kind: 'answered',
    status: 200,
    error: undefined,
    bytesSent: 412,
    duration: 120.4,
    firstByteAfter: 100.2,
    ...changes,
  };
}

/** A database that never forgets and, when told so, is away or refuses what contains a text. */
export class MemoryStore implements RecordStore {
  readonly records = new Map<string, Record<string, unknown>>();
  isAway = false;
  refused: string | undefined;
  inserts = 0;
  readonly contents = new Map<string, string>();

  async insert(instance: string, lines: readonly string[]): Promise<void> {
    this.inserts++;
    if (this.isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    if (lines.some((line) => this.refused !== undefined && line.includes(this.refused))) {
      throw Object.assign(new Error('invalid input syntax for type json'), { code: '22P02' });
    }
    for (const record of JSON.parse(`[${lines.join()}]`) as Record<string, unknown>[]) {
      const id = record['id'] as string;
      if (!this.records.has(id)) this.records.set(id, { ...record, instance });
    }
  }

  probe(): Promise<void> {
    return this.insert('', []);
  }

  readonly counts: UnauthenticatedCount[] = [];

  async addUnauthenticated(counts: readonly UnauthenticatedCount[]): Promise<void> {
    if (this.isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    this.counts.push(...counts);
  }

  async insertContent(lines: readonly string[]): Promise<void> {
    for (const { id, part, body } of JSON.parse(`[${lines.join()}]`) as Record<string, string>[]) {
      this.contents.set(`${id} ${part}`, Buffer.from(body ?? '', 'base64').toString());
    }
  }

  /** Value of one member for each record, in the order of insertion. */
  pluck(name: string): unknown[] {
    return [...this.records.values()].map((record) => record[name]);
  }
}

export class MemoryLog implements Logger {
  readonly lines: string[] = [];
  readonly info = (message: string): void => void this.lines.push(`info ${message}`);
  readonly warn = (message: string): void => void this.lines.push(`warn ${message}`);
  readonly error = (message: string): void => void this.lines.push(`error ${message}`);
}

export class TemporaryFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'daypass-log-'));

  /** Names of the files of the journal. */
  journal(data = ''): string[] {
    return readdirSync(join(this.path, data, 'journal')).filter((name) => name.endsWith('.ndjson'));
  }

  /** What stands in them. */
  text(data = ''): string {
    return this.journal(data)
      .map((name) => readFileSync(join(this.path, data, 'journal', name), 'utf8'))
      .join('');
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

interface LogParts extends Partial<RequestLogOptions> {
  folder: TemporaryFolder;
}

/** A log whose records stay in memory, with what it has logged. */
export function openLog({ folder, ...options }: LogParts): RequestLog & { readonly out: string[] } {
  const log = new MemoryLog();
  const requestLog = new RequestLog({
    dataFolder: folder.path,
    instance: 'test',
    log,
    store: new MemoryStore(),
    segmentAgeMs: 20,
    disk: new InlineDisk(),
    ...options,
  });
  return Object.assign(requestLog, { out: log.lines });
}

/** A host that has kept this log. */
export function hostOf(requestLog: RequestLog | undefined, lateAfterMs = 60_000): Host {
  const kept = new Map<string, object>();
  const host = {
    now: () => Date.now(),
    keep: (key: string, create: () => object) => {
      const value = kept.get(key) ?? create();
      kept.set(key, value);
      return value;
    },
  } as unknown as Host;
  Object.assign(openState(host), { requestLog, lateAfterMs });
  return host;
}

/** The lines of the journal, parsed. */
export function linesOf(folder: TemporaryFolder, data = ''): Record<string, unknown>[] {
  return folder
    .text(data)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Waits until the statement holds; looks again after every turn of the event loop or so. */
export async function until(holds: () => boolean | Promise<boolean>, deadline = 10_000): Promise<void> {
  const end = performance.now() + deadline;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`still not so after ${deadline} ms: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function unread(): Promise<never> {
  return Promise.reject(new Error('nobody reads this body'));
}
