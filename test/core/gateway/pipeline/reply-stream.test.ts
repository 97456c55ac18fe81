import { once } from 'node:events';
import { type Readable } from 'node:stream';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { ReplyStream, createReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import { bounds } from '#core/platform/bounds.ts';

const broken = new Error('broken');
const create = () => new ReplyStream({ read: () => undefined, close: () => undefined });

/** Everything that a stream brings until it is over, and how it ended. */
async function readAll(stream: Readable): Promise<{ text: string; error: unknown }> {
  let text = '';
  try {
    for await (const chunk of stream) text += String(chunk);
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  }
}

async function* generate(): AsyncGenerator<Buffer> {
  for (const text of ['a', 'b', 'c']) yield Buffer.from(text);
  throw broken;
}

/** Lets a reader start: streams begin to flow in the next tick. */
async function startReading(stream: Readable, onData: (text: string) => void): Promise<void> {
  stream.on('data', (chunk: Buffer) => onData(chunk.toString()));
  await nextImmediate();
}

describe('a chunk that is sent', () => {
  it('reaches a reader that waits before the call returns', async () => {
    const stream = create();
    const seen: string[] = [];
    await startReading(stream, (text) => seen.push(text));
    expect(stream.send(Buffer.from('a'))).toBe(true);
    expect(seen).toEqual(['a']);
  });

  it('waits for a reader that has paused, in order', async () => {
    const stream = create();
    const seen: string[] = [];
    await startReading(stream, (text) => {
      seen.push(text);
      stream.pause();
    });
    for (const text of ['a', 'b', 'c']) stream.send(Buffer.from(text));
    expect(seen).toEqual(['a']);
    stream.resume();
    await nextImmediate();
    stream.resume();
    await nextImmediate();
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('does not overtake buffered chunks when the reader continues', async () => {
    const stream = create();
    const seen: string[] = [];
    await startReading(stream, (text) => seen.push(text));
    stream.pause();
    stream.send(Buffer.from('a'));
    stream.resume();
    stream.send(Buffer.from('b'));
    await nextImmediate();
    expect(seen).toEqual(['a', 'b']);
  });

  it('is refused while the reader does not keep up, and more is requested once it has', async () => {
    const requestMore = vi.fn();
    const stream = new ReplyStream({ read: requestMore, close: () => undefined });
    await startReading(stream, () => undefined);
    stream.pause();
    expect(stream.send(Buffer.alloc(bounds.slowReader))).toBe(false);
    requestMore.mockClear();
    stream.resume();
    await nextImmediate();
    expect(requestMore).toHaveBeenCalled();
  });

  it('is decoded for a reader that wants text', async () => {
    const stream = create();
    stream.setEncoding('utf8');
    const seen: unknown[] = [];
    stream.on('data', (chunk) => seen.push(chunk));
    await nextImmediate();
    const euro = Buffer.from('€');
    stream.send(euro.subarray(0, 1));
    stream.send(euro.subarray(1));
    await nextImmediate();
    expect(seen.join('')).toBe('€');
  });

  it('is dropped once the reader is gone', async () => {
    const stream = create();
    const seen: string[] = [];
    await startReading(stream, (text) => seen.push(text));
    stream.destroy();
    expect(stream.send(Buffer.from('a'))).toBe(false);
    expect(seen).toEqual([]);
  });

  it('precedes the end', async () => {
    const stream = create();
    const reading = readAll(stream);
    stream.send(Buffer.from('a'));
    stream.push(null);
    expect(await reading).toEqual({ text: 'a', error: undefined });
  });
});

describe('a reply that breaks off', () => {
  it('brings everything first to who reads later', async () => {
    const stream = create();
    for (const text of ['a', 'b', 'c']) stream.push(text);
    stream.endWithError(broken);
    expect(await readAll(stream)).toEqual({ text: 'abc', error: broken });
  });

  it('brings everything first to who has paused', async () => {
    const stream = create();
    const seen: string[] = [];
    stream.on('data', (chunk: Buffer) => {
      seen.push(chunk.toString());
      stream.pause();
      setImmediate(() => stream.resume());
    });
    for (const text of ['a', 'b', 'c']) stream.push(text);
    stream.endWithError(broken);
    expect(await once(stream, 'error')).toEqual([broken]);
    expect(seen.join('')).toBe('abc');
  });

  it('reports the break at once to a reader that has read everything', async () => {
    const stream = create();
    stream.resume();
    const failed = once(stream, 'error');
    stream.endWithError(broken);
    expect(await failed).toEqual([broken]);
  });

  it('raises no unhandled error before it is read', () => {
    const stream = create();
    stream.endWithError(broken);
    expect(stream.destroyed).toBe(false);
  });

  it('is closed once', async () => {
    const close = vi.fn();
    const stream = new ReplyStream({ read: () => undefined, close });
    stream.push('a');
    stream.endWithError(broken);
    await readAll(stream);
    expect(close).toHaveBeenCalledOnce();
  });

  it('brings what was generated before', async () => {
    expect(await readAll(createReplyStream(generate()))).toEqual({ text: 'abc', error: broken });
  });

  it('brings what was generated before to who reads slowly', async () => {
    const stream = createReplyStream(generate());
    const seen: string[] = [];
    stream.on('data', (chunk: Buffer) => {
      seen.push(chunk.toString());
      stream.pause();
      setTimeout(() => stream.resume(), 1);
    });
    await once(stream, 'error');
    expect(seen.join('')).toBe('abc');
  });

  it('is abandoned at once when its reader goes while it waits', async () => {
    const silence = Promise.withResolvers<void>();
    async function* wait(): AsyncGenerator<Buffer> {
      yield Buffer.from('a');
      await silence.promise;
    }
    const abandon = vi.fn<() => void>(silence.resolve);
    const stream = createReplyStream(wait(), abandon);
    await once(stream, 'data');
    stream.destroy();
    await once(stream, 'close');
    expect(abandon).toHaveBeenCalledOnce();
  });
});
