import { expect, test } from 'vitest';
import { type LineSink, LineWriter } from '../../../plugins/log/line-writer.ts';

/** Takes this many bytes, then nothing, as a disk does that becomes full within a write. */
class FullSink implements LineSink {
  text = '';
  room: number;

  constructor(room: number) {
    this.room = room;
  }

  append(bytes: Buffer, offset: number, length: number): number {
    if (this.room === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const taken = Math.min(length, this.room);
    this.text += bytes.toString('latin1', offset, offset + taken);
    this.room -= taken;
    return taken;
  }
}

test('lines stay in the buffer while no sink takes them, and are written afterwards', () => {
  const sink = new FullSink(0);
  const failures: unknown[] = [];
  const writer = new LineWriter(sink, (error) => void failures.push(error));
  expect([writer.add('first'), writer.flush(), writer.add('second'), writer.flush()]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(failures).toMatchObject([{ code: 'ENOSPC' }, { code: 'ENOSPC' }]);
  sink.room = 100;
  expect([writer.flush(), sink.text]).toEqual([true, 'first\nsecond\n']);
});

test('a line that a sink took in part is whole in the next one', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(1_000)}`);
  const whole = `${lines.join('\n')}\n`;
  for (const room of [0, 1, 1_002, 1_003, 1_004, 5_000, whole.length - 1]) {
    const [first, second] = [new FullSink(room), new FullSink(whole.length)];
    const writer = new LineWriter(first, () => second);
    for (const line of lines) writer.add(line);
    expect(writer.flush()).toBe(true);
    const kept = first.text.slice(0, first.text.lastIndexOf('\n') + 1);
    expect(kept + second.text).toBe(whole);
  }
});

test('lines are refused when the buffer is full and no sink takes them', () => {
  const writer = new LineWriter(new FullSink(0), () => undefined);
  const line = 'x'.repeat(1023);
  let taken = 0;
  while (writer.add(line)) taken++;
  expect(taken).toBe(256);
  expect(writer.waitingBytes).toBe(256 * 1024);
  expect(writer.countWaiting('x')).toBe(256);
});
