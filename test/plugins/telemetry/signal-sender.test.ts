import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLogger } from '#core/platform/logger.ts';
import type { SendResult } from '../../../plugins/telemetry/collector.ts';
import type { OtlpSpan } from '../../../plugins/telemetry/otlp.ts';
import { SignalSender } from '../../../plugins/telemetry/signal-sender.ts';
import { SpanQueue } from '../../../plugins/telemetry/span-queue.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const taken: SendResult = { kind: 'taken', rejected: 0, reason: '' };
const away: SendResult = { kind: 'later', reason: 'connection refused', retryAfterMs: 0 };

function open(...answers: SendResult[]) {
  const lines: string[] = [];
  const sent: (readonly object[])[] = [];
  const send = async (_: string, items: readonly object[]) => {
    sent.push(items);
    return answers.length > 1 ? (answers.shift() as SendResult) : (answers[0] as SendResult);
  };
  const sender = new SignalSender(
    { send },
    'traces',
    createLogger((line) => lines.push(line.slice(25).trim())),
  );
  return { sender, lines, sent, answers };
}

it('items are sent again until a collector that was away takes them, with one line for both', async () => {
  const { sender, lines, sent } = open(away, away, taken);
  const delivered = sender.deliver([{}]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await delivered).toBe(true);
  expect([sent.length, sender.dropped]).toEqual([3, 0]);
  expect(lines).toEqual([
    'warn  the collector does not accept traces; retrying: connection refused',
    'info  the collector accepts traces again',
  ]);
});

it('a collector is not asked again before the time that it names', async () => {
  const { sender, sent } = open({ kind: 'later', reason: 'status 429', retryAfterMs: 50_000 }, taken);
  const delivered = sender.deliver([{}]);
  await vi.advanceTimersByTimeAsync(49_000);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([await delivered, sent.length]).toEqual([true, 2]);
});

it('what a collector refuses is counted as dropped, all or a part of it', async () => {
  const { sender, lines } = open(
    { kind: 'refused', reason: 'status 400' },
    { kind: 'taken', rejected: 1, reason: 'too old' },
  );
  await sender.deliver([{}, {}]);
  await sender.deliver([{}, {}]);
  expect(sender.dropped).toBe(3);
  expect(lines).toEqual(['warn  the collector rejected 2 traces: status 400']);
});

it('while a collector is away, spans wait up to a bound, and the others are counted as dropped', async () => {
  const { sender, sent, answers } = open(away);
  await using queue = new SpanQueue(
    sender,
    createLogger(() => undefined),
  );
  for (let count = 0; count < 10_000; count++) queue.add([{ name: String(count) } as OtlpSpan]);
  await vi.advanceTimersByTimeAsync(100_000);
  expect(sender.dropped).toBeGreaterThan(1_000);
  answers[0] = taken;
  sent.length = 0;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent.flat().length + sender.dropped).toBe(10_000);
});

it('a stop tries once more, and drops the spans that the collector does not accept', async () => {
  const { sender, sent } = open(away);
  const queue = new SpanQueue(
    sender,
    createLogger(() => undefined),
  );
  queue.add([{}, {}] as OtlpSpan[]);
  sender.close();
  await queue[Symbol.asyncDispose]();
  expect([sent.length, sender.dropped]).toEqual([1, 2]);
});
