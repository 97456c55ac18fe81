import { describe, expect, it } from 'vitest';
import { eventsIn } from '../plugins/format/replays/gateway.ts';
import { recordings as all, rowOf } from '../plugins/format/replays/recordings.ts';
import { textFormats } from '../support/formats.ts';
import { answer, ask, isWholeAtVendor, play, ways } from './answers.ts';

describe.each(textFormats)('a client of %s', (client) => {
  describe.each(ways)('whose answer is %s', (way) => {
    // Vertex AI writes arguments in pieces of its own kind, which the program does not read.
    const recordings = all.filter(({ name }) => !(client === 'gemini' && name === 'gemini/vertex-streamed-arguments'));
    const played = isWholeAtVendor(way) ? recordings.filter(({ whole }) => whole !== undefined) : recordings;
    it.each(played.map(rowOf))('computes the digest on record of %s', async (_name, recording) => {
      const bytes = isWholeAtVendor(way) ? recording.whole : recording.stream;
      const got = await play(client, recording, way, [bytes as Buffer]);
      if (got === undefined) return;
      const { digests, recomputed } = got;
      expect(digests.sent, got.body).toBe(recomputed);
      if (digests.received === digests.sent) expect(digests.changes).toBeUndefined();
      else expect(digests.changes?.length, JSON.stringify(digests)).toBeGreaterThan(0);
    });
  });
});

describe.each(textFormats)('a client of %s whose stream breaks off', (client) => {
  const recordings = all.filter(({ name }) => !(client === 'gemini' && name === 'gemini/vertex-streamed-arguments'));
  it.each(recordings.map(rowOf))(
    'computes the recorded digest from the part of %s that it received',
    async (_name, recording) => {
      const request = await ask(client, recording, 'streamed');
      const events = eventsIn(recording.stream);
      for (let end = 1; end < events.length; end++) {
        const last = events[end - 1]?.toString('latin1').trimEnd() ?? '';
        // The last event has its blank line, or breaks off before it.
        for (const pieces of [events.slice(0, end), [...events.slice(0, end - 1), Buffer.from(last, 'latin1')]]) {
          const got = answer(request, 'streamed', pieces);
          expect(got?.digests.sent, got?.body).toBe(got?.recomputed);
        }
      }
    },
  );
});
