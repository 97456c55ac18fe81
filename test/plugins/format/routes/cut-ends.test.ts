import { describe, expect, it } from 'vitest';
import type { TextFormat } from '../../../support/formats.ts';
import { bytesOf, call, dataIn, pairs, readerOf, streams } from './reply-fixture.ts';

const calls = [call('call_1', 'now', '{"at":{"x":1}}')];

/** What a client gets of a stream that ends here. */
function read(client: TextFormat, upstream: TextFormat, stream: string) {
  const reader = readerOf(client, upstream, true);
  const got = reader.push(Buffer.from(stream)).toString() + reader.end().toString();
  return { got, isComplete: reader.isComplete };
}

describe.each(pairs)('a stream for a client of %s from an upstream of %s', (client, upstream) => {
  const stream = bytesOf(upstream, streams[upstream](calls)).toString().replace('data: [DONE]\n\n', '');
  // The one after it says nothing in Messages.
  const last = stream
    .trimEnd()
    .split('\n\n')
    .at(upstream === 'messages' ? -2 : -1) as string;
  const before = stream.slice(0, stream.indexOf(last));

  it('that is cut behind any brace of its last event is not complete, and has whole events only', () => {
    expect(read(client, upstream, stream).isComplete).toBe(true);
    const braces = [...last.slice(0, -1).matchAll(/\}/g)].map(({ index }) => index);
    expect(braces.length).toBeGreaterThan(0);
    for (const brace of braces) {
      const { got, isComplete } = read(client, upstream, before + last.slice(0, brace + 1));
      expect(() => dataIn(got)).not.toThrow();
      expect(isComplete).toBe(false);
    }
  });
});
