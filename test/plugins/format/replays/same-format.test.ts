import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import type { TextFormat } from '../../../support/formats.ts';
import type { Answer } from './answer.ts';
import { readers } from './expectation.ts';
import { playStream, playWhole, replay } from './gateway.ts';
import { knownRaw, type RawCase } from './known-raw.ts';
import { type Recording, recordings } from './recordings.ts';
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

/** What a client of the recording's own format reads. @throws Error where it fails */
async function read({ way }: RawCase, recording: Recording): Promise<Answer> {
  const client = recording.format as TextFormat;
  const call = await replay(client, recording, way === 'streamed', {
    ...recording.expected.request,
    ...plainTools[client],
  });
  const reader = readers[client];
  if (way === 'streamed') return reader.stream(playStream(call, [recording.stream]).body);
  return reader.whole(JSON.parse(playWhole(call, recording.whole as Buffer).body) as JsonObject);
}

describe('a client of the vendor’s own format', () => {
  const rows = knownRaw.map((one): [string, string, string, RawCase] => [one.way, one.name, one.point, one]);

  it.each(rows)('gets the oddity of the %s answer %s, until point %s of issue 9', async (_way, name, _point, one) => {
    const recording = recordings.find((each) => each.name === name) as Recording;
    if (typeof one.today === 'string') await expect(read(one, recording)).rejects.toThrow(one.today);
    else expect(await read(one, recording)).toMatchObject(one.today);
  });
});
