import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { ReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { holdEnding } from '../../../../../plugins/format/state/responses-store/hold-ending.ts';

const answer: JsonObject = { id: 'resp_1' };
const newSource = () => new ReplyStream({ read: () => undefined, close: () => undefined });

it('the store delivers the end of an answer only once it is stored', async () => {
  const stored = Promise.withResolvers<void>();
  const source = newSource();
  let finished: JsonObject | undefined;
  const passing = holdEnding(
    source,
    () => finished,
    () => stored.promise,
  );
  const chunks = passing[Symbol.asyncIterator]();
  source.push('delta');
  expect(String((await chunks.next()).value)).toBe('delta');
  finished = answer;
  source.push('end');
  source.push(null);
  const end = chunks.next();
  expect(await Promise.race([end, new Promise((done) => void setImmediate(done, 'held'))])).toBe('held');
  stored.resolve();
  expect(String((await end).value)).toBe('end');
  expect((await chunks.next()).done).toBe(true);
});

it('the store keeps an answer once, whatever follows its end', async () => {
  const stored: JsonObject[] = [];
  const store = async (given: JsonObject) => void stored.push(given);
  const source = Readable.from([Buffer.from('a'), Buffer.from('b'), Buffer.from('c')], { objectMode: false });
  expect(await text(holdEnding(source, () => answer, store))).toBe('abc');
  expect(stored).toEqual([answer]);
});

it('breaks off as its source does, after everything that came before', async () => {
  const source = newSource();
  const passing = holdEnding(
    source,
    () => undefined,
    () => Promise.resolve(),
  );
  source.push('delta');
  source.endWithError(new Error('cut'));
  const chunks = passing[Symbol.asyncIterator]();
  expect(String((await chunks.next()).value)).toBe('delta');
  await expect(chunks.next()).rejects.toThrow('cut');
});
