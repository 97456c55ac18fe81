import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { textFormats } from '../../../support/formats.ts';
import { readers } from '../../../support/readers/index.ts';
import { caseFactor } from '../../../support/runs.ts';
import { eventsIn, playStream, replay } from './gateway.ts';
import { recordings, rowOf } from './recordings.ts';

// Responses state when they were completed.
beforeEach(() => vi.useFakeTimers({ now: 1_763_770_000_000, toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());

/** Between the cuts after which a stream is repeated: the events of a stream are alike. Each one with TEST_CASES=2. */
const step = caseFactor > 1 ? 1 : 4;

describe.each(textFormats)('a client of %s', (client) => {
  // Of two answers one may have ended when the other breaks off.
  const rows = recordings.filter(({ expected }) => expected.request?.['n'] === undefined).map(rowOf);

  it.each(rows)('reads one error or one end wherever %s breaks off', async (_name, recording) => {
    const call = await replay(client, recording, true);
    const full = readers[client].stream(playStream(call, [recording.stream]).body);
    const pieces = eventsIn(recording.stream);
    for (let cut = 0; cut < pieces.length; cut++) {
      const { body } = playStream(call, pieces.slice(0, cut));
      const { text, finish, error } = readers[client].stream(body);
      expect([finish, error].filter((end) => end !== undefined)).toHaveLength(1);
      expect((full.text + full.refusal).slice(0, text.length)).toBe(text);
    }
  });

  it.each(recordings.map(rowOf))('reads the same answer when %s is repeated after a cut', async (_name, recording) => {
    const call = await replay(client, recording, true);
    const full = playStream(call, [recording.stream]);
    const pieces = eventsIn(recording.stream);
    for (let cut = 0; cut < pieces.length; cut += step) {
      playStream(call, pieces.slice(0, cut));
      expect(playStream(call, pieces)).toEqual(full);
    }
  });
});
