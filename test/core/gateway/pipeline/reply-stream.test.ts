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

it('a reply that continues while its reader resumes keeps its order', async () => {
  const waiting: string[] = [];
  const stream: ReplyStream = new ReplyStream({
    // Node.js reads on before it emits the chunk that it has taken out of the buffer.
    read() {
      for (const text of waiting.splice(0)) stream.push(text);
    },
    close: () => undefined,
  });
  const seen: string[] = [];
  stream.on('data', (chunk: Buffer) => seen.push(chunk.toString()));
  stream.pause();
  stream.push('a'.repeat(bounds.slowReader));
  waiting.push('b', 'c');
  stream.resume();
  await nextImmediate();
  expect(seen.map((text) => text[0])).toEqual(['a', 'b', 'c']);
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
