import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { ignoreBrokenPipe, countLostWrites, ignoreClosedOutput, writeLogLine } from '#core/platform/output.ts';

/** A stream whose reader has stopped. */
const stopped = () => new Writable({ write: () => undefined });

/** A stream whose reader has gone. */
function gone(code = 'EPIPE'): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) });
}

it('the log keeps a bounded number of bytes for a reader that has stopped, and counts the other lines', () => {
  const stream = stopped();
  const before = countLostWrites();
  const line = `${'x'.repeat(999)}\n`;
  const count = (2 * bounds.pendingLog) / line.length;
  for (let index = 0; index < count; index++) writeLogLine(line, stream);
  expect(stream.writableLength).toBeLessThan(bounds.pendingLog + 2 * line.length);
  expect(countLostWrites() - before).toBeGreaterThan(count / 3);
});

it('a gateway keeps running when writing its log fails, and counts the failures', async () => {
  const stream = gone();
  ignoreClosedOutput([stream]);
  const before = countLostWrites();
  stream.write('a line');
  await new Promise((resolve) => stream.once('close', resolve));
  expect(countLostWrites() - before).toBe(1);
});

it('a command ends quietly at a closed pipe, and not at another failure', () => {
  const stream = gone();
  ignoreBrokenPipe([stream]);
  expect(() => stream.emit('error', Object.assign(new Error('gone'), { code: 'EPIPE' }))).not.toThrow();
  expect(() => stream.emit('error', Object.assign(new Error('full'), { code: 'ENOSPC' }))).toThrow('full');
});
