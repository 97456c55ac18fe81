import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { adapter } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { formatStage } from '../../../../plugins/format/stage.ts';
import { createExchange } from '../../../support/exchange.ts';
import { descriptors, type Format } from '../../../support/formats.ts';
import { runs } from '../../../support/runs.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { hostOf, modelOf } from '../catalog/catalog-fixture.ts';

const formats = ['chat', 'responses', 'messages', 'gemini', 'images'] as const;
const profile = mergeProfiles({ quirks: { count_tokens: true } });
const route = routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats }), { profile });
const host = {
  ...hostOf([
    modelOf('echo', formats, { routes: [route] }),
    modelOf('drawer', formats, { kind: 'image', routes: [route] }),
  ]),
  now: () => 0,
  keep: <T extends object>(_key: string, create: () => T): T => create(),
} as Host;

function endpointOf(format: Format, name = ''): Endpoint {
  const known = descriptors[format];
  return { ...(known.client.endpoints.find((one) => one.name.startsWith(name)) as Endpoint), format: known };
}

/** What the upstream gets for a body, as it travels. */
async function sent(format: Format, body: string, endpoint = endpointOf(format)): Promise<string> {
  const exchange = createExchange({ endpoint, body, params: { id: 'echo' } });
  const stage = await formatStage.create({ keep_reasoning_hours: 24 }, host);
  await stage.enter?.(exchange);
  return String(exchange.get(adapter).encode(route).body);
}

/** The members of the outermost object in the order of the text: the shortest pieces that are members by themselves. */
function membersOf(text: string): [string, JsonValue][] {
  const members: [string, JsonValue][] = [];
  const inside = text.trim().slice(1, -1);
  for (let begin = 0, end = inside.indexOf(','); begin < inside.length; end = inside.indexOf(',', end + 1)) {
    const piece = inside.slice(begin, end === -1 ? inside.length : end);
    const [member] = Object.entries(parsed(`{${piece}}`) ?? {});
    if (member !== undefined) {
      members.push(member as [string, JsonValue]);
      begin += piece.length + 1;
    }
    if (end === -1) break;
  }
  return members;
}

function parsed(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}

type Parser = (text: string, name: string) => JsonValue | undefined;
const firstWins: Parser = (text, name) => membersOf(text).find(([one]) => one === name)?.[1];
const lastWins: Parser = (text, name) => membersOf(text).findLast(([one]) => one === name)?.[1];
/** As Go's encoding/json: the last member with the name counts, ignoring case. */
const ignoringCase: Parser = (text, name) =>
  membersOf(text).findLast(([one]) => one.replace('ſ', 's').toLowerCase() === name)?.[1];
const parsers = { firstWins, lastWins, ignoringCase };

/** A name in one of the spellings that some parser takes for it. */
const spelled = (name: string) =>
  fc.constantFrom(name, name.toUpperCase(), name.replace('e', String.raw`\u0065`), name.replace('m', 'M'));

const chat = '"messages":[{"role":"user","content":"hi"}]';

describe.each(Object.entries(parsers))('an upstream whose parser is %s', (_name, read) => {
  it.each([
    ['twice', `{"model":"other",${chat},"model":"echo"}`],
    ['twice, once with escapes', String.raw`{"mod\u0065l":"other",${chat},"model":"echo"}`],
    ['twice, last with escapes', String.raw`{"model":"other",${chat},"mod\u0065l":"echo"}`],
    ['with another case', `{"model":"echo",${chat},"Model":"other"}`],
    ['once, with escapes', String.raw`{"mod\u0065l":"echo",${chat}}`],
    [
      'twice behind a long prompt',
      `{"model":"other","messages":[{"role":"user","content":"${'x'.repeat(9_000)}"}],"model":"echo"}`,
    ],
  ])('reads the model that was authorised from a body that names it %s', async (_how, body) => {
    expect(read(await sent('chat', body), 'model')).toBe('model-there');
  });

  it.each([
    ['twice', `{"model":"echo","stream":true,${chat},"stream":false}`],
    ['twice, once with escapes', String.raw`{"model":"echo","str\u0065am":true,${chat},"stream":false}`],
    ['in a letter that folds to another', `{"model":"echo","stream":false,${chat},"ſtream":true}`],
  ])('reads the stream that was authorised from a body that has it %s', async (_how, body) => {
    expect(read(await sent('chat', body), 'stream')).toBe(false);
  });

  it.each<[Format, string, string, JsonValue]>([
    ['chat', 'max_tokens', `{"model":"echo","max_tokens":9000,${chat},"max_tokens":9}`, 9],
    ['responses', 'input', '{"model":"echo","input":"first","store":true,"input":"last"}', 'last'],
    ['responses', 'store', '{"model":"echo","store":true,"input":"x","store":false}', false],
    ['messages', 'max_tokens', `{"model":"echo","max_tokens":1,${chat},"max_tokens":2}`, 2],
    [
      'gemini',
      'contents',
      '{"contents":[{"parts":[{"text":"a"}]}],"contents":[{"parts":[{"text":"b"}]}]}',
      [{ parts: [{ text: 'b' }] }],
    ],
    ['images', 'model', '{"model":"other","prompt":"x","model":"drawer"}', 'model-there'],
  ])('reads of %s the %s that the gateway read', async (format, name, body, value) => {
    expect(read(await sent(format, body), name)).toEqual(value);
  });

  it('reads no model other than the one in the path of a Gemini request', async () => {
    const body = '{"model":"models/other","contents":[{"parts":[{"text":"a"}]}]}';
    expect(read(await sent('gemini', body), 'model')).toBeUndefined();
    expect(read(await sent('gemini', body, endpointOf('gemini', 'gemini_count')), 'model')).toBeUndefined();
  });

  it('reads the same from any body', async () => {
    const member = fc.oneof(
      fc.tuple(spelled('model'), fc.constantFrom('echo', 'other')),
      fc.tuple(spelled('stream'), fc.boolean()),
      fc.tuple(fc.constantFrom('messages', 'x', 'X', '__proto__'), fc.constant([{ role: 'user', model: 'x' }])),
      fc.tuple(fc.constantFrom('seed'), fc.integer()),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(member, { maxLength: 8 }), async (some) => {
        const all = [...some, ['messages', [{ role: 'user', content: 'a "model": {' }]], ['model', 'echo']] as const;
        const text = `{${all.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(',')}}`;
        const there = await sent('chat', text);
        expect(read(there, 'model')).toBe('model-there');
        expect(read(there, 'stream')).toBe(parsed(text)?.['stream']);
      }),
      runs(60),
    );
  });
});

describe('a body that is serialized again', () => {
  it('keeps numbers that no double can say', async () => {
    const there = await sent(
      'chat',
      `{"model":"other","model":"echo",${chat},"vendor_id":12345678901234567890,"ratio":0.10000000000000000001}`,
    );
    expect(there).toContain('"vendor_id":12345678901234567890,"ratio":0.10000000000000000001');
  });

  it('keeps members that only the vendor knows', async () => {
    const there = await sent('chat', `{"model":"other","model":"echo",${chat},"Citations":true,"citations":{"a":1}}`);
    expect(JSON.parse(there)).toMatchObject({ Citations: true, citations: { a: 1 } });
  });

  it('has of two spellings of Gemini the one that the gateway reads', async () => {
    const contents = '"contents":[{"parts":[{"text":"a"}]}]';
    const there = await sent('gemini', `{${contents},"generationConfig":{"seed":1},"generation_config":{"seed":2}}`);
    expect(JSON.parse(there)).toEqual({ ...JSON.parse(`{${contents}}`), generationConfig: { seed: 1 } });
  });
});

describe('a body that can be read in one way only', () => {
  it.each([
    [
      'members of the same name at different depths',
      `{ "model" : "echo","metadata":{"model":"a","stream":1},${chat} }`,
    ],
    [
      'repeated members below the top, by which nothing is decided',
      '{"model":"echo","messages":[{"role":"user","role":"user","content":"x"}]}',
    ],
    [
      'names as text',
      String.raw`{"model":"echo","user":"model","messages":[{"role":"user","content":"\"model\":\"other\",\"model\""}]}`,
    ],
    ['members in snake_case', `{"model":"echo",${chat},"max_tokens":1,"top_p":1}`],
  ])('keeps every byte but the name: %s', async (_what, body) => {
    expect(await sent('chat', body)).toBe(body.replace('"echo"', '"model-there"'));
  });

  it('of Gemini keeps every byte in either spelling', async () => {
    const body = '{ "contents":[{"parts":[{"text":"a"}]}],"generation_config":{ "seed":1}}';
    expect(await sent('gemini', body)).toBe(body);
  });
});
