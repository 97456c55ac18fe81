import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { openCall } from '../../../../plugins/format/routes/model-call.ts';
import { serverVendors } from '../../../../plugins/upstream/vendors/servers.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { modelOf } from '../catalog/catalog-fixture.ts';
import { exchange, requestOf } from '../invariants/fixture.ts';

/** Formats whose clients name stop sequences. */
const clients = ['chat', 'messages', 'gemini'] as const;
type Client = (typeof clients)[number];

const message = { role: 'user', content: 'go' };
const asked: Readonly<Record<Client, JsonObject>> = {
  chat: { messages: [message], stop: ['Observation:', 'END'] },
  messages: { max_tokens: 9, messages: [message], stop_sequences: ['Observation:', 'END'] },
  gemini: {
    contents: [{ role: 'user', parts: [{ text: 'go' }] }],
    generationConfig: { stopSequences: ['Observation:', 'END'] },
  },
};
const endings: Readonly<Record<Client, string>> = {
  chat: '"finish_reason":"stop"',
  messages: '"stop_reason":"stop_sequence","stop_sequence":"END"',
  gemini: '"finishReason":"STOP"',
};

const head = { id: 'c', created: 1, model: 'there' };
const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  ...head,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

function callOf(client: Client, isStream: boolean) {
  const { quirks, capabilities } = serverVendors.find(({ name }) => name === 'transformers-serve') ?? {};
  const upstream = upstreamAt('http://127.0.0.1:1/v1', { formats: ['chat'] });
  const route = routeTo(upstream, { profile: mergeProfiles({ quirks, capabilities }) });
  const request = requestOf(client, { model: 'test', ...asked[client], stream: isStream }).with({ isStream });
  const call = openCall(exchange, modelOf('test', [], { routes: [route] }), request);
  return { request: call.encode(route), reader: call.read(route) };
}

describe.each(clients)('transformers serve, which leaves stop sequences in the text, for a client of %s', (client) => {
  it('gets none of them', () => {
    expect(JSON.parse(String(callOf(client, true).request.body))).not.toHaveProperty('stop');
  });

  it('has its stream cut at the first, also when it comes in pieces', () => {
    const { reader } = callOf(client, true);
    const chunks = [
      chunk({ role: 'assistant', content: 'one E' }),
      chunk({ content: 'N two E' }),
      chunk({ content: 'N' }),
      chunk({ content: 'D three' }),
      { ...chunk({}, 'stop'), usage },
    ];
    const written = chunks.map((each) => reader.push(Buffer.from(`data: ${JSON.stringify(each)}\n\n`)).toString());
    expect(written[0]).toContain('one ');
    const text = written.join('') + reader.end().toString();
    expect(text).toContain('EN two ');
    expect(text).not.toMatch(/three|two E|"(?:E|EN)"/);
    expect(text).toContain(endings[client]);
    expect(reader.usage).toMatchObject({ input: 3, output: 4 });
  });

  it('has its whole answer cut', () => {
    const { reader } = callOf(client, false);
    const said = { role: 'assistant', content: 'one EN two END' };
    const body = {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: said, finish_reason: 'stop' }],
      usage,
    };
    const text = reader.whole(Buffer.from(JSON.stringify(body)), 'application/json').body.toString();
    expect(text).toContain('"one EN two "');
    expect(text).toContain(endings[client]);
  });
});
