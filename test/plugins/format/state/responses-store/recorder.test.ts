import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import { bounds } from '#core/platform/bounds.ts';
import { createLogger } from '#core/platform/logger.ts';
import { Recorder } from '../../../../../plugins/format/state/responses-store/recorder.ts';
import { responseBody } from './fixture.ts';

let lines: string[];
const query = vi.fn<() => Promise<unknown[]>>();
const host = {
  log: createLogger((line) => lines.push(line.slice(25).trim())),
  database: { query },
  now: () => 1_800_000_000_000,
  section: () => ({ keep_hours: 24, max_bytes: 10_000, max_account_bytes: 1_048_576 }),
} as unknown as Host;
const draft = { accountId: 'a', items: [], previousId: undefined };

let recorder: Recorder;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  query.mockReset();
  lines = [];
  recorder = new Recorder(host);
});
afterEach(() => void vi.useRealTimers());

const save = (count: number) => recorder.save(draft, responseBody(count));

it('the first answer waits for a database that does not respond, later ones do not', async () => {
  query.mockReturnValue(new Promise(() => undefined));
  const first = save(1);
  await vi.advanceTimersByTimeAsync(2_000);
  await first;
  await save(2);
  expect(query).toHaveBeenCalledOnce();
});

it('the recorder tries a database that has failed again after its cooldown', async () => {
  query.mockRejectedValueOnce(new Error('away')).mockResolvedValue([]);
  await save(1);
  await vi.advanceTimersByTimeAsync(5_000);
  await save(2);
  expect(query).toHaveBeenCalledTimes(2);
});

it('the recorder notes an answer that the database did not store', async () => {
  query.mockRejectedValueOnce(new Error('away')).mockResolvedValue([]);
  expect([await save(1), await save(2)]).toEqual(Array(2).fill('not stored: the database failed'));
});

it('a database that is down costs one line a minute and no stack, however many answers are not stored', async () => {
  query.mockRejectedValue(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
  for (let second = 0; second <= 60; second++) {
    await save(second);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(lines).toEqual([
    'error response resp_0 could not be stored; its client cannot continue it: connection refused',
    'error response resp_60 could not be stored; its client cannot continue it (59 more times since the last line): connection refused',
  ]);
});

it('writes a long conversation, then its answer, and measures both in separate turns of the event loop', async () => {
  const long = { type: 'message', role: 'user', content: 'x'.repeat(bounds.stepwiseBody) };
  const answer = { ...responseBody(1), output: [{ ...long, role: 'assistant' }] };
  let turn = 0;
  let ticker = setImmediate(function tick() {
    turn++;
    ticker = setImmediate(tick);
  });
  const { stringify } = JSON;
  const { byteLength } = Buffer;
  const turns: Record<'written' | 'measured', number[]> = { written: [], measured: [] };
  vi.spyOn(JSON, 'stringify').mockImplementation((value) => (turns.written.push(turn), stringify(value)));
  vi.spyOn(Buffer, 'byteLength').mockImplementation((text) => (turns.measured.push(turn), byteLength(text)));
  try {
    const note = await recorder.save({ ...draft, items: [long] }, answer);
    expect(note).toBe('not stored: the conversation is too large');
  } finally {
    clearImmediate(ticker);
    vi.restoreAllMocks();
  }
  const [input = 0, written = 0, measured = 0] = [...turns.written, turns.measured[0]].map(Number);
  expect([input < written, written < measured, measured < turn]).toEqual([true, true, true]);
});
