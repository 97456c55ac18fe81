import { describe, expect, it } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { textFormats } from '../../../support/formats.ts';
import type { Answer } from '../../../support/readers/answer.ts';
import { readers } from '../../../support/readers/index.ts';
import { expectAnswer, expectRecorded } from './expectation.ts';
import { playConverted, playStream, playWhole, replay } from './gateway.ts';
import { recordings, rowOf } from './recordings.ts';

const wholes = recordings.filter(({ whole }) => whole !== undefined);
const wholeAnswers = wholes.filter(({ expected }) => expected.error === undefined);
const answers = recordings.filter(({ expected }) => expected.error === undefined);

describe.each(textFormats)('a client of %s', (client) => {
  it.each(wholeAnswers.map(rowOf))('reads all of the whole answer %s', async (_name, recording) => {
    const { body, usage } = playWhole(await replay(client, recording, false), recording.whole as Buffer);
    expectAnswer(client, readers[client].whole(JSON.parse(body) as JsonObject), recording);
    expectRecorded(usage, recording.expected);
  });

  it.each(wholeAnswers.map(rowOf))('reads in the stream %s what the whole answer says', async (_name, recording) => {
    const streamed = playStream(await replay(client, recording, true), [recording.stream]);
    const whole = playWhole(await replay(client, recording, false), recording.whole as Buffer);
    const read = readers[client].whole(JSON.parse(whole.body) as JsonObject);
    expect(withoutDetails(readers[client].stream(streamed.body))).toEqual(withoutDetails(read));
  });

  it.each(wholes.filter(({ expected }) => expected.error !== undefined).map(rowOf))(
    'gets an error for the whole answer %s',
    async (_name, recording) => {
      const call = await replay(client, recording, false);
      expect(() => playWhole(call, recording.whole as Buffer)).toThrow(GatewayError);
    },
  );

  it.each(answers.map(rowOf))('that asks for a whole answer gets it from the stream %s', async (_name, recording) => {
    const { body, usage } = playConverted(await replay(client, recording, false), recording.stream, true);
    expectAnswer(client, readers[client].whole(JSON.parse(body) as JsonObject), recording);
    expectRecorded(usage, recording.expected);
  });

  it.each(wholeAnswers.map(rowOf))(
    'that asks for a stream gets it from the whole answer %s',
    async (_name, recording) => {
      const { body, usage } = playConverted(await replay(client, recording, true), recording.whole as Buffer, false);
      expectAnswer(client, readers[client].stream(body), recording);
      expectRecorded(usage, recording.expected);
    },
  );
});

/** Vendors count details in one of both only. */
function withoutDetails({ usage, ...answer }: Answer) {
  return { ...answer, usage: [usage?.input, usage?.output] };
}
