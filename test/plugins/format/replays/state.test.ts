import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { type TextFormat, textFormats } from '../../../support/formats.ts';
import { nextRequest, playConverted, playStream, replay } from './gateway.ts';
import { type Recording, recordings, rowOf } from './recordings.ts';

const stateful = recordings.filter(({ expected }) => expected.state !== undefined);

/** The gateway's mark for reasoning without state, in plain letters and in base64. */
const noState = /^(dps1n|ZHBzMW[45])/;

/** A recording of another upstream of the same format. */
function otherThan({ name, format }: Recording): Recording {
  return recordings.find((other) => other.format === format && other.name !== name) as Recording;
}

/** Each state once, since streams repeat it. */
function statesIn(body: string): string[] {
  const members = body.matchAll(/"(?:signature|data|encrypted_content|thoughtSignature)":"([^"]+)"/g);
  return [...new Set(members.map(([, value = '']) => value))].filter((value) => !noState.test(value));
}

/** True where a state comes behind the answer, which must be the last item for these clients. */
function isLost(client: TextFormat, { name }: Recording): boolean {
  return name === 'gemini/gemini-thoughts' && (client === 'messages' || client === 'responses');
}

describe.each(textFormats)('a client of %s', (client) => {
  it.each(stateful.map(rowOf))(
    'returns the opaque reasoning state of %s to its vendor only',
    async (_name, recording) => {
      const { body } = playConverted(await replay(client, recording, false), recording.stream, true);
      const answer = JSON.parse(body) as JsonObject;
      const sent = await nextRequest(client, recording, answer);
      const sentElsewhere = await nextRequest(client, otherThan(recording), answer);
      for (const state of recording.expected.state ?? []) {
        if (!isLost(client, recording)) expect(sent).toContain(state);
        expect(sentElsewhere).not.toContain(state);
      }
    },
  );

  const translated = stateful.filter(({ format }) => format !== client);

  it.each(translated.map(rowOf))(
    'gets the same opaque reasoning state of %s streamed and whole',
    async (_name, recording) => {
      const whole = playConverted(await replay(client, recording, false), recording.stream, true).body;
      const streamed = playStream(await replay(client, recording, true), [recording.stream]).body;
      const { state: states = [] } = recording.expected;
      expect(statesIn(whole)).toHaveLength(isLost(client, recording) ? 0 : states.length);
      expect(statesIn(streamed)).toEqual(statesIn(whole));
    },
  );
});
