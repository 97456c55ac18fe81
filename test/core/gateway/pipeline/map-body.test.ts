import { once } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type BodyTransform, mapBody } from '#core/gateway/pipeline/map-body.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { bounds } from '#core/platform/bounds.ts';

const shout: BodyTransform = async function* (chunks) {
  for await (const chunk of chunks) yield chunk.toString().toUpperCase();
};
const growing: BodyTransform = async function* () {
  for (;;) yield Buffer.alloc(bounds.bufferedReply / 2 + 1);
};
const failing: BodyTransform = async function* (chunks) {
  for await (const chunk of chunks) throw new Error(`cannot read ${String(chunk)}`);
  yield '';
};
const replyOf = (body: Reply['body']): Reply => ({ status: 201, headers: { 'x-a': 'b' }, body });
const streamOf = (reply: Reply) => reply.body as Readable;
const idle = () => new Readable({ read() {} });

describe('a whole body', () => {
  it.each(['größer', Buffer.from('größer')])('stays whole', async (body) => {
    expect(await mapBody(replyOf(body), shout)).toEqual(replyOf(Buffer.from('GRÖSSER')));
  });

  it('that is not there is not mapped', () => {
    expect(mapBody(replyOf(null), shout)).toEqual(replyOf(null));
  });

  it('rejects with what the transform throws', async () => {
    await expect(mapBody(replyOf('a'), failing)).rejects.toThrow('cannot read a');
  });

  it('that grows over its bound is refused', async () => {
    await expect(mapBody(replyOf('a'), growing)).rejects.toMatchObject({ code: 'internal_error' });
  });
});

describe('a stream', () => {
  it('stays a stream, chunk by chunk', async () => {
    const source = idle();
    const mapped = streamOf(await mapBody(replyOf(source), shout));
    source.push('one');
    expect(String((await once(mapped, 'data'))[0])).toBe('ONE');
    source.push('two');
    source.push(null);
    expect(await mapped.map(String).toArray()).toEqual(['TWO']);
  });

  it('is read no faster than its reader reads', async () => {
    let read = 0;
    const source = new Readable({
      highWaterMark: 1,
      read() {
        read++;
        this.push(Buffer.alloc(65_536));
      },
    });
    const mapped = streamOf(await mapBody(replyOf(source), shout));
    mapped.read();
    await once(mapped, 'readable');
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(read).toBeLessThan(6);
    mapped.destroy();
  });

  it('that breaks off ends with the same error, after what came before', async () => {
    const failure = new Error('cut');
    const source = Readable.from(
      (async function* () {
        yield Buffer.from('one');
        throw failure;
      })(),
    );
    const mapped = streamOf(await mapBody(replyOf(source), shout));
    const got: string[] = [];
    mapped.on('data', (chunk: Buffer) => got.push(String(chunk)));
    expect(await once(mapped, 'error').catch((error: unknown) => [error])).toEqual([failure]);
    expect(got).toEqual(['ONE']);
  });

  it('whose transform fails ends with its error, and closes the source', async () => {
    const source = idle();
    const mapped = streamOf(await mapBody(replyOf(source), failing));
    source.push('one');
    await expect(mapped.toArray()).rejects.toThrow('cannot read one');
    expect(source.destroyed).toBe(true);
  });

  it('whose reader leaves closes the source, even while the source sends nothing', async () => {
    const source = idle();
    const mapped = streamOf(await mapBody(replyOf(source), shout));
    mapped.resume();
    await new Promise(setImmediate);
    mapped.destroy();
    await once(mapped, 'close');
    expect(source.destroyed).toBe(true);
  });
});
