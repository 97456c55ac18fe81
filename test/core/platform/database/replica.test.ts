import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { maxLagMs, Replica } from '#core/platform/database/replica.ts';
import { createLogger } from '#core/platform/logger.ts';

let now = 0;
let lines: string[] = [];
/** What the two servers say of themselves. */
let primary: { lsn: number; started: string; system: string };
let replica: { lsn: number; started: string; system: string; is_replica: boolean; replayed_at: number | null };
/** What the replica does with other statements. */
let answer: () => Promise<unknown[]>;
let opened: Replica[] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  now = 0;
  lines = [];
  primary = { lsn: 1_000, started: 'monday', system: '7' };
  replica = { ...primary, started: 'tuesday', is_replica: true, replayed_at: null };
  answer = async () => ['of the replica'];
});
afterEach(async () => {
  for (const one of opened) await one[Symbol.asyncDispose]();
  opened = [];
  vi.useRealTimers();
});

const asked = (sql: string) => sql.includes('pg_control_system');
const refuse = (code: string) => () => Promise.reject(Object.assign(new Error('refused'), { code }));

async function open(): Promise<Replica> {
  const made = new Replica({
    primary: async (sql) =>
      (asked(sql) ? [{ ...primary, lsn: String(primary.lsn), time: now }] : ['of the primary']) as never,
    replica: async (sql) =>
      (asked(sql) ? [{ ...replica, lsn: String(replica.lsn), has_records: true }] : await answer()) as never,
    close: async () => undefined,
    log: createLogger((line) => lines.push(line)),
    now: () => now,
  });
  opened.push(made);
  await made.query('first');
  return made;
}

/** @returns from where a statement is answered after a measurement at this time */
async function readAt(replicated: Replica, time: number): Promise<unknown> {
  now = time;
  await replicated.measure();
  return (await replicated.query('SELECT'))[0];
}

it('a replica that has replayed everything is read, however old the last write is', async () => {
  replica.replayed_at = -3_600_000;
  const replicated = await open();
  expect(await readAt(replicated, 10_000_000)).toBe('of the replica');
  expect(replicated.replica).toMatchObject({ lag: 0, fault: undefined });
});

it('a replica that stands still is read for 30 seconds, then the primary, until it has caught up', async () => {
  const replicated = await open();
  primary.lsn += 10;
  expect(await readAt(replicated, maxLagMs)).toBe('of the replica');
  expect(replicated.replica.lag).toBe(maxLagMs);
  expect(await readAt(replicated, maxLagMs + 5_000)).toBe('of the primary');
  expect(replicated.replica.fault).toBe('it is 35 s behind');
  replica.lsn = primary.lsn;
  expect(await readAt(replicated, maxLagMs + 10_000)).toBe('of the replica');
  expect(lines).toEqual([
    expect.stringContaining('is not used: it is 35 s behind'),
    expect.stringContaining('is used again'),
  ]);
});

it('the lag under load is the age of the last transaction that was replayed', async () => {
  const replicated = await open();
  Object.assign(primary, { lsn: 2_000 });
  Object.assign(replica, { lsn: 1_900, replayed_at: 4_980 });
  await readAt(replicated, 5_000);
  expect(replicated.replica.lag).toBe(20);
});

it('a replica that was behind before anybody measured is read once that is known to be little', async () => {
  Object.assign(replica, { lsn: 10, replayed_at: null });
  const replicated = await open();
  expect(await readAt(replicated, 1)).toBe('of the primary');
  replica.replayed_at = 1;
  expect(await readAt(replicated, 2_000)).toBe('of the replica');
});

it.each([
  ['another server', { system: '8' }],
  ['a former replica', { is_replica: false }],
])('%s is not read', async (_name, change) => {
  Object.assign(replica, change);
  const replicated = await open();
  expect(await readAt(replicated, 1)).toBe('of the primary');
  expect(replicated.replica.fault).toContain('not a streaming replica');
});

it('the primary itself under another name is read', async () => {
  replica = { ...primary, is_replica: false, replayed_at: null };
  expect(await readAt(await open(), 1)).toBe('of the replica');
});

it('a statement that the replica refuses is sent to the primary, and one that takes too long is not', async () => {
  const replicated = await open();
  answer = refuse('40001');
  expect(await replicated.query('SELECT')).toEqual(['of the primary']);
  expect(lines).toEqual([expect.stringContaining('SQLSTATE 40001')]);
  answer = refuse('57014');
  await expect(replicated.query('SELECT')).rejects.toThrow('refused');
});

it('what waits for a replica that fell silent is asked of the primary at the next measurement', async () => {
  const replicated = await open();
  answer = () => new Promise(() => undefined);
  const waiting = replicated.query('SELECT');
  replica = undefined as never;
  await replicated.measure();
  expect(await waiting).toEqual(['of the primary']);
  expect(replicated.replica.fault).toContain('cannot be read');
});
