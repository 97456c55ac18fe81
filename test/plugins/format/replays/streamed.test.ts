import { afterEach, beforeEach, describe, it, vi } from 'vitest';
import { textFormats } from '../../../support/formats.ts';
import { readers } from '../../../support/readers/index.ts';
import { expectAnswer, expectRecorded } from './expectation.ts';
import { playStream, replay } from './gateway.ts';
import { recordings, rowOf } from './recordings.ts';

// Responses state when they were completed.
beforeEach(() => vi.useFakeTimers({ now: 1_763_770_000_000, toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());

describe.each(textFormats)('a client of %s', (client) => {
  it.each(recordings.map(rowOf))('reads all of the stream %s', async (_name, recording) => {
    const { body, usage } = playStream(await replay(client, recording, true), [recording.stream]);
    expectAnswer(client, readers[client].stream(body), recording);
    expectRecorded(usage, recording.expected);
  });
});
