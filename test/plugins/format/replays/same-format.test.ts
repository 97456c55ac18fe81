import { describe, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import type { TextFormat } from '../../../support/formats.ts';
import type { Answer } from '../../../support/readers/answer.ts';
import { readers } from '../../../support/readers/index.ts';
import { expectAnswer } from './expectation.ts';
import { playStream, playWhole, replay } from './gateway.ts';
import { type Recording, recordings, rowOf } from './recordings.ts';
import { requests } from './requests.ts';

const { chat, responses } = requests;
/** The tools without freeform ones, with which a request is translated on most routes of its own format. */
const plainTools: Readonly<Partial<Record<TextFormat, JsonObject>>> = {
  chat: { tools: plain(chat) },
  responses: { tools: plain(responses) },
};

function plain({ tools }: JsonObject): JsonObject[] {
  return (tools as JsonObject[]).filter(({ type }) => type !== 'custom');
}

type Way = 'streamed' | 'whole';

/** The bytes that a client of the recording's own format gets. */
async function play(way: Way, recording: Recording): Promise<string> {
  const client = recording.format as TextFormat;
  const call = await replay(client, recording, way === 'streamed', {
    ...recording.expected.request,
    ...plainTools[client],
  });
  return (way === 'streamed' ? playStream(call, [recording.stream]) : playWhole(call, recording.whole as Buffer)).body;
}

/** What the client reads. @throws Error where it fails */
async function read(way: Way, recording: Recording): Promise<Answer> {
  const reader = readers[recording.format as TextFormat];
  const body = await play(way, recording);
  return way === 'streamed' ? reader.stream(body) : reader.whole(JSON.parse(body) as JsonObject);
}

const own = recordings.filter(({ format }) => format !== 'ollama');
const wholes = own.filter(({ whole, expected }) => whole !== undefined && !('error' in expected));

describe('a client of the vendor’s own format', () => {
  it.each(own.map(rowOf))('reads all of the stream %s', async (_name, recording) => {
    expectAnswer(recording.format as TextFormat, await read('streamed', recording), recording);
  });

  it.each(wholes.map(rowOf))('reads all of the whole answer %s', async (_name, recording) => {
    expectAnswer(recording.format as TextFormat, await read('whole', recording), recording);
  });
});
