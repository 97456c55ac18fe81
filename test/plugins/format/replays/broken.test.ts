import { describe, expect, it } from 'vitest';
import { textFormats } from '../../../support/formats.ts';
import { readers } from '../../../support/readers/index.ts';
import { eventsIn, playStream, replay } from './gateway.ts';
import { recordings, rowOf } from './recordings.ts';

/** Numbers of events after which a stream is cut: at its beginning, in its middle and before its end. */
function cutsOf(events: number): number[] {
  const cuts = [0, 1, 2, Math.floor(events / 2), events - 2, events - 1];
  return [...new Set(cuts.filter((cut) => cut >= 0 && cut < events))];
}

describe.each(textFormats)('a client of %s', (client) => {
  // Of two answers one may have ended when the other breaks off.
  const rows = recordings.filter(({ expected }) => expected.request?.['n'] === undefined).map(rowOf);

  it.each(rows)('reads one error or one end wherever %s breaks off', async (_name, recording) => {
    const call = await replay(client, recording, true);
    const full = readers[client].stream(playStream(call, [recording.stream]).body);
    const pieces = eventsIn(recording.stream);
    for (const cut of cutsOf(pieces.length)) {
      const { body } = playStream(call, pieces.slice(0, cut));
      const { text, finish, error } = readers[client].stream(body);
      expect([finish, error].filter((end) => end !== undefined)).toHaveLength(1);
      expect((full.text + full.refusal).slice(0, text.length)).toBe(text);
    }
  });
});
