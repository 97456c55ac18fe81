import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { eventsOf } from '../../../support/readers/answer.ts';
import { readers } from '../../../support/readers/index.ts';
import { expectAnswer } from './expectation.ts';
import { playStream, replay } from './gateway.ts';
import { type Recording, recordings, rowOf } from './recordings.ts';
import { thinned, type Thinning, thinnings } from './thin-responses.ts';

const own = recordings.filter(({ format, expected }) => format === 'responses' && expected.error === undefined);
const clean = own.filter(({ name, expected }) => name.includes('openai') && expected.state === undefined);

async function play(recording: Recording, stream: Buffer): Promise<string> {
  const call = await replay('responses', recording, true);
  return playStream(call, [stream]).body;
}

/** What the openai SDK's helper collects. @throws Error where it throws */
function accumulate(body: string): JsonObject {
  type Event = Parameters<typeof accumulateResponse>[0];
  let snapshot: ReturnType<typeof accumulateResponse> | undefined;
  for (const { data } of eventsOf(body)) snapshot = accumulateResponse(JSON.parse(data) as Event, snapshot);
  return snapshot as unknown as JsonObject;
}

/** OpenAI's own endpoint may send events that are newer than the gateway. */
const isOpenAi = ({ expected }: Recording) => expected.vendor === 'openai';

/** Items of hosted tools have no deltas, calls without items no names, and texts without places and ends no borders. */
function isReadable(recording: Recording, { hasCalls, hasBorders = true, isForeign = false }: Thinning): boolean {
  const { expected, name } = recording;
  if (isForeign && isOpenAi(recording)) return false;
  if (!hasBorders && Array.isArray(expected.reasoning)) return false;
  if (hasCalls) return true;
  return (expected.calls ?? []).length === 0 && !/hosted|search|image/.test(name) && expected.state === undefined;
}

describe.each(thinnings.map((one) => [one.name, one] as const))('a stream %s', (_name, thinning) => {
  const rows = own.filter((recording) => isReadable(recording, thinning)).map(rowOf);

  it.each(rows)('is read as a whole one: %s', async (_recording, recording) => {
    const body = await play(recording, thinned(recording, thinning));
    const { source: _, ...expected } = recording.expected;
    const answer = readers.responses.stream(body);
    expectAnswer('responses', answer, { ...recording, expected: { ...expected, source: '' } });
    expect(readers.responses.whole(accumulate(body))).toEqual(answer);
  });
});

/** The same stream with the members of each event in alphabetical order, as vLLM writes them. */
function sorted(stream: Buffer): string {
  const events = eventsOf(stream.toString()).map(({ data }) => JSON.parse(data) as JsonObject);
  const written = events.map((event) => {
    const members = Object.entries(event).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return `event: ${String(event['type'])}\ndata: ${JSON.stringify(Object.fromEntries(members))}\n\n`;
  });
  return written.join('');
}

/** The stream as a client gets it: with its name of the model, and at the end with a count that newer SDKs declare as required. */
function received(stream: string, name: string): string {
  const named = stream.replaceAll('"gpt-5.1-2025-11-13"', `"dp/${name}"`);
  const start = named.lastIndexOf('data: ') + 'data: '.length;
  const ending = JSON.stringify(JSON.parse(named.slice(start)));
  return `${named.slice(0, start)}${ending.replace(/(?<="cached_tokens":\d+)(?=\})/, ',"cache_write_tokens":0')}\n\n`;
}

describe('a clean stream', () => {
  it.each(clean.map(rowOf))(
    'passes in another order of members, byte by byte but for the same: %s',
    async (name, recording) => {
      const stream = sorted(recording.stream);
      expect(await play(recording, Buffer.from(stream))).toBe(received(stream, name));
    },
  );

  it.each(clean.map(rowOf))('is collected when its end has no output: %s', async (_name, recording) => {
    for (const stream of [recording.stream.toString(), sorted(recording.stream)]) {
      const bare = stream.replaceAll(/"output":\[\{.*?\}\](?=,"parallel)/g, '"output":[]');
      const body = await play(recording, Buffer.from(bare));
      expectAnswer('responses', readers.responses.stream(body), recording);
    }
  });

  it('of OpenAI keeps events that are new', async () => {
    const recording = clean.find(({ name }) => name.endsWith('openai-text')) as Recording;
    const fresh = 'event: response.news\ndata: {"type":"response.news","sequence_number":0}\n\n';
    const stream = recording.stream
      .toString()
      .replace('event: response.in_progress', `${fresh}event: response.in_progress`);
    expect(await play(recording, Buffer.from(stream))).toContain(fresh);
  });

  it.each(clean.map(rowOf))(
    'passes byte by byte but for the name of the model and one count: %s',
    async (name, recording) => {
      expect(await play(recording, recording.stream)).toBe(received(recording.stream.toString(), name));
    },
  );
});
