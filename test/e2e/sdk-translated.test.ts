import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repeatedResults, toolCalls } from '../support/aimock.ts';
import { type SdkGateway, startSdkGateway, upstreamFormats, upstreamPaths } from '../support/sdk-gateway.ts';
import { comparable, surfaces } from '../support/sdk-surfaces.ts';

let gateway: SdkGateway;
beforeAll(async () => {
  gateway = await startSdkGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const clientFormats = Object.keys(surfaces) as (keyof typeof surfaces)[];
const pairs = clientFormats.flatMap((client) => upstreamFormats.map((upstream) => [client, upstream] as const));

/** A prompt, and words that the answer must contain, streamed or whole. */
const answers = [
  ['hello', ['Hello from the mock: ☀ ß 🙂.']],
  ['think', ['Six times seven.', 'It is 42.']],
  ['weather', toolCalls.flatMap(({ id, name }) => [id, name])],
  ['say first', ['Let me look.', toolCalls[0].name, 'celsius']],
  ['at length', ['And so it']],
] as const;

describe.each(pairs)('a %s client on a route that speaks %s', (client, upstream) => {
  const model = `on-${upstream}`;
  const surface = surfaces[client];

  it('gets tool calls and an answer to their results', async () => {
    expect(await surface.converse(gateway, model)).toBe(repeatedResults);
    expect(gateway.mock.lastRequest()?.path).toBe(upstreamPaths[upstream]);
  });

  it.each(answers)('gets the same answer to "%s" streamed and whole', async (text, words) => {
    const whole = comparable(await surface.whole(gateway, model, text));
    for (const word of words) expect(JSON.stringify(whole)).toContain(word);
    expect(comparable(await surface.folded(gateway, model, text))).toEqual(whole);
  });
});
