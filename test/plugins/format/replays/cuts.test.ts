import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type TextFormat, textFormats } from '../../../support/formats.ts';
import { readers } from '../../../support/readers/index.ts';
import { caseFactor } from '../../../support/runs.ts';
import { eventsIn, playStream, replay } from './gateway.ts';
import { type Recording, recordings, rowOf } from './recordings.ts';

// Responses state when they were completed.
beforeEach(() => vi.useFakeTimers({ now: 1_763_770_000_000, toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());

/** Bytes of the longest stream that is cut at every byte. Longer ones are cut every seven, also inside of characters. */
const smallStream = 1_800;

/**
 * A stream in pieces. It is read by the format of the vendor, whoever the client is, unless that has the same: so each is cut at every byte
 * for a client of its own format and for one other, in turn; for all of them with TEST_CASES=2.
 */
function crumbsOf(stream: Buffer, client: TextFormat, recording: Recording): Buffer[] {
  const inTurn = textFormats[recordings.indexOf(recording) % textFormats.length];
  const isWanted = caseFactor > 1 || client === recording.format || client === inTurn;
  const size = isWanted && stream.length <= smallStream ? 1 : 7;
  return Array.from({ length: Math.ceil(stream.length / size) }, (_, at) =>
    stream.subarray(at * size, (at + 1) * size),
  );
}

/** The same stream with the other kind of line ends. */
function withOtherLineEnds(stream: Buffer): Buffer {
  const text = stream.toString();
  return Buffer.from(text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\n', '\r\n'));
}

describe.each(textFormats)('a client of %s', (client) => {
  it.each(recordings.map(rowOf))('gets the same bytes of %s wherever it is cut', async (_name, recording) => {
    const { stream } = recording;
    const call = await replay(client, recording, true);
    const { body, usage } = playStream(call, [stream]);
    expect(playStream(call, eventsIn(stream))).toEqual({ body, usage });
    expect(playStream(call, crumbsOf(stream, client, recording))).toEqual({ body, usage });
  });

  it.each(recordings.map(rowOf))('reads the same in %s with other line ends', async (_name, recording) => {
    const { stream } = recording;
    const call = await replay(client, recording, true);
    const answer = readers[client].stream(playStream(call, [stream]).body);
    const other = withOtherLineEnds(stream);
    expect(readers[client].stream(playStream(call, [other]).body)).toEqual(answer);
    expect(readers[client].stream(playStream(call, crumbsOf(other, client, recording)).body)).toEqual(answer);
  });
});
