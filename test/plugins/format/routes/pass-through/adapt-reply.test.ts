import { describe, expect, it } from 'vitest';
import type { Route } from '#core/config/catalog/catalog.ts';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { deriveOrigin } from '../../../../../plugins/format/canonical/opaque-state.ts';
import {
  decodeSignature,
  encodeSignature,
} from '../../../../../plugins/format/formats/gemini/request/thought-signature.ts';
import { ClientRequest } from '../../../../../plugins/format/request/client-request.ts';
import { RequestContent } from '../../../../../plugins/format/request/request-content.ts';
import { adaptRequest } from '../../../../../plugins/format/routes/pass-through/adapt-request.ts';
import { descriptors, type Format } from '../../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../../upstream/fixture.ts';
import { streamEvent } from '../../codec-fixture.ts';

const routeAt = (url: string, profile: ProfileSettings = {}): Route =>
  routeTo(upstreamAt(url), { profile: mergeProfiles(profile) });
const route = routeAt('http://127.0.0.1:1/v1');
const own = deriveOrigin(route.upstream);
function requestOf(format: Format, body: JsonObject): ClientRequest {
  const text = JSON.stringify({ model: 'test', ...body });
  const isStream = body['stream'] === true;
  const content = RequestContent.fromText(text, JSON.parse(text) as JsonObject);
  return new ClientRequest({ format: descriptors[format], purpose: 'answer', model: 'test', isStream }, content);
}
const sent = (format: Format, body: JsonObject, to: Route = route) => {
  const { body: bytes, notes } = adaptRequest(requestOf(format, body), to);
  return { body: JSON.parse(String(bytes)) as JsonObject, notes };
};
/** The adapter of a format, on texts. */
function adapterOf(format: Format, request: JsonObject = {}) {
  const adapter = descriptors[format].client.createReplyAdapter?.(requestOf(format, request), own);
  if (adapter === undefined) throw new Error(`${format} has no reply adapter`);
  return {
    meter: adapter.meter,
    event: (text: string, counted?: Usage) => adapter.adaptEvent(streamEvent(text), counted),
    whole: (text: string, counted?: Usage) => adapter.adaptReply(text, JSON.parse(text) as JsonObject, counted),
    end: (counted?: Usage) => adapter.renderEnd?.(counted) ?? '',
    failure: (text: string) => adapter.adaptFailure?.(text) ?? text,
  };
}

const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const dataOf = (text: string): JsonObject => JSON.parse(text.slice(text.indexOf('data:') + 5)) as JsonObject;

const chunk = (thoughtSignature: string): string =>
  `data: {"candidates":[{"content":{"role":"model","parts":[{"thoughtSignature":${thoughtSignature}}]}}]}\n\n`;
const signatureIn = (text: string): string => /"thoughtSignature":"([^"]*)"/.exec(text)?.[1] ?? '';
const contents = (thoughtSignature: string): JsonObject[] => [{ role: 'model', parts: [{ thoughtSignature }] }];

const said = (parts: JsonObject[], more: JsonObject = {}): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }] })}\n\n`;

describe('a Gemini reply', () => {
  it('has its signatures tagged, streamed and whole, every other byte as it came', () => {
    const before =
      '{"candidates": [{"content": {"parts": [{"text": "\\"thoughtSignature\\": \\"x\\"", "thoughtSignature": "';
    const after = '"}]}}], "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1}}';
    const tagged = encodeSignature(`dps1t${own}.SIG=`);
    expect(decodeSignature(tagged)).toEqual({ kind: 'thought', origin: own, data: 'SIG=' });
    for (const signature of ['SIG=', 'SIG\\u003d']) {
      const body = before + signature + after;
      const counted = { input: 1, output: 1 };
      expect(adapterOf('gemini').whole(body, counted)).toBe(before + tagged + after);
      expect(adapterOf('gemini').event(`data: ${body}\n\n`, counted)).toBe(`data: ${before}${tagged}${after}\n\n`);
    }
  });

  it.each([['"EqQB+/8="'], [String.raw`"EqQB+\/8\u003d"`]])(
    'has its signature %s tagged in base64, and back',
    (value) => {
      const signed = signatureIn(adapterOf('gemini').event(chunk(value)));
      expect(signed).toMatch(/^[A-Za-z0-9+/]+=*$/);
      expect(Buffer.from(signed, 'base64').toString()).toBe(`dps1t${own}.EqQB+/8=`);
      expect(sent('gemini', { contents: contents(signed) }).body['contents']).toEqual(contents('EqQB+/8='));
    },
  );

  describe('without counts', () => {
    it('has a guess of them in the chunk that says why it ends, and nowhere else', () => {
      const adapter = adapterOf('gemini', { contents: [{ role: 'user', parts: [{ text: 'x'.repeat(80) }] }] });
      const words = said([{ text: 'x'.repeat(40) }]);
      expect(adapter.event(words)).toBe(words);
      const call = said([{ functionCall: { name: 'end', args: { finishReason: 'STOP' } } }]);
      expect(adapter.event(call)).not.toContain('usageMetadata');
      const { usageMetadata } = dataOf(adapter.event(said([{ text: '' }], { finishReason: 'STOP' })));
      const { input, output } = adapter.meter.complete(undefined, true);
      expect(usageMetadata).toEqual({
        promptTokenCount: input,
        candidatesTokenCount: output,
        totalTokenCount: Number(input) + Number(output),
      });
      expect([input, output].every((tokens) => Number(tokens) >= 10)).toBe(true);
    });

    it('keeps the existing counts and adds the missing ones', () => {
      const ending = said([{ text: 'x'.repeat(40) }], { finishReason: 'STOP' });
      const { usageMetadata } = dataOf(adapterOf('gemini').event(ending, { input: 7 }));
      expect(usageMetadata).toEqual({ promptTokenCount: 7, candidatesTokenCount: 10, totalTokenCount: 17 });
    });

    it('stays as it came where they are there', () => {
      const ending = said([{ text: 'x' }], { finishReason: 'STOP' });
      expect(adapterOf('gemini').event(ending, { input: 7, output: 1 })).toBe(ending);
    });
  });

  it('stays as it is without a signature, or with one that has no end', () => {
    for (const text of [chunk('""'), 'data: {"thoughtSignature":"Eq\n\n']) {
      expect(adapterOf('gemini').event(text)).toBe(text);
    }
  });
});

describe('a Messages reply', () => {
  it('without counts is estimated alike in its thinking, its text and its calls', () => {
    const adapter = adapterOf('messages');
    const parts = [
      ['thinking', { type: 'thinking_delta', thinking: 'word' }],
      ['text', { type: 'text_delta', text: 'word' }],
      ['tool_use', { type: 'input_json_delta', partial_json: 'word' }],
    ] as const;
    for (const [index, [type, delta]] of parts.entries()) {
      adapter.event(event('content_block_start', { type: 'content_block_start', index, content_block: { type } }));
      for (let piece = 0; piece < 100; piece++)
        adapter.event(event('content_block_delta', { type: 'content_block_delta', index, delta }));
    }
    expect(adapter.meter?.output).toBeGreaterThan(295);
    expect(adapter.meter?.output).toBeLessThan(305);
  });

  it('has its signature tagged in a stream', () => {
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'SIG' } };
    expect(adapterOf('messages').event(event('content_block_delta', delta))).toContain(`"dps1s${own}.SIG"`);
  });

  it('has redacted thinking tagged in a stream', () => {
    const start = { type: 'content_block_start', index: 0, content_block: { type: 'redacted_thinking', data: 'RED' } };
    expect(adapterOf('messages').event(event('content_block_start', start))).toContain(`"dps1x${own}.RED"`);
  });

  it('has thinking tagged when it is whole, and inputs of tools left alone', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'SIG' };
    const use = { type: 'tool_use', id: 't', name: 'sign', input: { signature: 'mine', data: 'too' } };
    const whole = JSON.parse(adapterOf('messages').whole(JSON.stringify({ content: [thinking, use] }))) as JsonObject;
    expect(whole['content']).toEqual([{ ...thinking, signature: `dps1s${own}.SIG` }, use]);
  });

  it('has counts in its message_delta, also when the upstream forgot them', () => {
    const text = event('message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn' } });
    expect(dataOf(adapterOf('messages').event(text))).toMatchObject({ usage: { output_tokens: expect.any(Number) } });
  });

  it('keeps every other event as it came', () => {
    const text = 'event: content_block_delta\r\ndata:{"type":"content_block_delta" , "x": 1.0}\r\n\r\n';
    expect(adapterOf('messages').event(text)).toBe(text);
  });
});

describe('a Messages stream without counts', () => {
  const start = { type: 'message_start', message: { id: 'msg_1', content: [] } };
  const ending = { type: 'message_delta', delta: { stop_reason: 'end_turn' } };

  it('has them in its message_start, because Anthropic’s SDK adds up from there', () => {
    const text = adapterOf('messages').event(event('message_start', start));
    expect(dataOf(text)).toMatchObject({
      type: 'message_start',
      message: { id: 'msg_1', usage: { input_tokens: expect.any(Number), output_tokens: 0 } },
    });
  });

  it('has one message_start, of those that a vendor repeats', () => {
    const adapter = adapterOf('messages');
    const text = event('message_start', { ...start, message: { usage: { input_tokens: 3, output_tokens: 1 } } });
    expect([adapter.event(text, { input: 3 }), adapter.event(text, { input: 3 })]).toEqual([text, '']);
  });

  it('has its message_start as it came where the upstream has counted there', () => {
    const text = event('message_start', { ...start, message: { usage: { input_tokens: 3, output_tokens: 1 } } });
    expect(adapterOf('messages').event(text, { input: 3, output: 1 })).toBe(text);
  });

  it.each([
    ['are missing', {}],
    ['are null', { usage: null }],
    ['are empty', { usage: {} }],
  ])('that %s at the end has the estimate there, not the count of the beginning', (_how, given) => {
    const adapter = adapterOf('messages');
    adapter.event(event('message_start', { ...start, message: { usage: { input_tokens: 3, output_tokens: 1 } } }), {});
    const delta = { type: 'text_delta', text: 'x'.repeat(40) };
    adapter.event(event('content_block_delta', { type: 'content_block_delta', index: 0, delta }));
    const text = adapter.event(event('message_delta', { ...ending, ...given }), { input: 3, output: 1 });
    const cached = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
    const details = { output_tokens_details: { thinking_tokens: 0 }, server_tool_use: null };
    expect(dataOf(text)['usage']).toEqual({ input_tokens: 3, ...cached, output_tokens: 10, ...details });
    expect(adapter.meter.complete({ input: 3, output: 1 }, true)).toMatchObject({ output: 10, isEstimated: true });
  });
});

describe('a Messages stream that counts only', () => {
  it.each([
    ['its answer keeps that count and gets its prompt estimated', { input: 0, output: 7 }, { output_tokens: 7 }],
    ['its prompt keeps that count and gets its answer estimated', { input: 7, output: 0 }, { input_tokens: 7 }],
  ])('%s', (_what, counted, kept) => {
    const adapter = adapterOf('messages', { messages: [{ role: 'user', content: 'y'.repeat(80) }] });
    const delta = { type: 'text_delta', text: 'x'.repeat(400) };
    adapter.event(event('content_block_delta', { type: 'content_block_delta', index: 0, delta }));
    const usage = { input_tokens: counted.input, output_tokens: counted.output };
    const ending = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage };
    const written = dataOf(adapter.event(event('message_delta', ending), counted))['usage'];
    const recorded = adapter.meter?.complete(counted, true);
    expect(written).toMatchObject({ input_tokens: recorded?.input, output_tokens: recorded?.output, ...kept });
    expect(recorded?.input).toBeGreaterThan(0);
    expect(recorded?.output).toBeGreaterThan(0);
  });
});

describe('a whole reply without counts', () => {
  const text = 'x'.repeat(400);
  it.each<[Format, JsonObject, object]>([
    [
      'chat',
      { choices: [{ index: 0, message: { content: text } }] },
      {
        prompt_tokens: expect.any(Number),
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens: expect.any(Number),
        completion_tokens_details: { reasoning_tokens: 0 },
        total_tokens: expect.any(Number),
      },
    ],
    [
      'messages',
      { content: [{ type: 'text', text }] },
      {
        input_tokens: expect.any(Number),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 100,
      },
    ],
    [
      'responses',
      { output: [{ type: 'message', content: [{ type: 'output_text', text }] }] },
      {
        input_tokens: expect.any(Number),
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: expect.any(Number),
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: expect.any(Number),
      },
    ],
    [
      'gemini',
      { candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }] },
      { promptTokenCount: expect.any(Number), candidatesTokenCount: 100, totalTokenCount: expect.any(Number) },
    ],
  ])('of %s gets them', (format, reply, usage) => {
    const name = format === 'gemini' ? 'usageMetadata' : 'usage';
    for (const given of [{}, { [name]: null }, { [name]: {} }]) {
      const whole = JSON.parse(adapterOf(format).whole(JSON.stringify({ ...reply, ...given }))) as JsonObject;
      expect(whole).toMatchObject({ ...reply, [name]: usage });
    }
  });

  it.each(['chat', 'messages'] as const)('of %s stays as it came where they are there', (format) => {
    const whole = '{ "content": [], "usage": {} }';
    expect(adapterOf(format).whole(whole, { input: 1, output: 2 })).toBe(whole);
  });
});

describe('a Responses reply', () => {
  it('gets counts also when something else in it is called usage', () => {
    const tools = [{ type: 'function', name: 'f', parameters: { properties: { usage: { type: 'string' } } } }];
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'hello' }] }];
    const response = { id: 'r', tools, output, usage: null };
    const text = adapterOf('responses').event(event('response.completed', { type: 'response.completed', response }));
    expect(dataOf(text)).toMatchObject({
      response: { output, usage: { input_tokens_details: { cached_tokens: 0 }, total_tokens: expect.any(Number) } },
    });
  });

  it('keeps the existing counts and adds the missing ones', () => {
    const usage = { input_tokens: 7, output_tokens: 3, output_tokens_details: { reasoning_tokens: 2 } };
    const text = event('response.completed', { type: 'response.completed', response: { output: [], usage } });
    expect(dataOf(adapterOf('responses').event(text, { input: 7, output: 3 }))).toMatchObject({
      response: { usage: { ...usage, total_tokens: 10 } },
    });
  });

  it.each([{}, { reasoning_tokens: null }])(
    'has a count in details of its usage that are %j',
    (output_tokens_details) => {
      const usage = {
        input_tokens: 7,
        input_tokens_details: {},
        output_tokens: 3,
        output_tokens_details,
        total_tokens: 10,
      };
      const response = { output: [], usage };
      const filled = {
        response: {
          output: [],
          usage: {
            ...usage,
            input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
            output_tokens_details: { reasoning_tokens: 0 },
          },
        },
      };
      const counted = { input: 7, output: 3 };
      const text = event('response.completed', { type: 'response.completed', response });
      expect(dataOf(adapterOf('responses').event(text, counted))).toEqual({ type: 'response.completed', ...filled });
      const whole = adapterOf('responses').whole(JSON.stringify(response), counted);
      expect(JSON.parse(whole)).toEqual(filled.response);
    },
  );

  it('of an older server has a count of cache writes, and keeps its other counts', () => {
    const usage = {
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 10,
    };
    const whole = adapterOf('responses').whole(JSON.stringify({ output: [], usage }), { input: 7, output: 3 });
    expect(JSON.parse(whole)).toEqual({
      output: [],
      usage: { ...usage, input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 } },
    });
  });

  it('has its encrypted content tagged', () => {
    const item = { type: 'reasoning', id: 'rs_1', encrypted_content: 'ENC' };
    const text = event('response.output_item.done', { type: 'response.output_item.done', item });
    expect(adapterOf('responses').event(text)).toContain(`"dps1e${own}.ENC"`);
  });

  it('whose usage is null gets counts, because clients loop without', () => {
    const text = event('response.completed', {
      type: 'response.completed',
      response: { id: 'r', output: [], usage: null },
    });
    expect(dataOf(adapterOf('responses').event(text))).toMatchObject({
      response: { usage: { total_tokens: expect.any(Number) } },
    });
  });
});

describe('a Chat stream', () => {
  const usage = `data: ${JSON.stringify({ id: 'c', choices: [], usage: { prompt_tokens: 1 } })}\n\n`;
  const done = 'data: [DONE]\n\n';

  it('hides the usage that only the gateway has asked for', () => {
    expect(adapterOf('chat', { stream: true }).event(usage)).toBe('');
  });

  it('hides the usage from a client that has declined it, and gets it for the record', () => {
    const declined = { stream: true, stream_options: { include_usage: false, include_obfuscation: false } };
    expect(adapterOf('chat', declined).event(usage)).toBe('');
    const { body } = sent('chat', { messages: [], ...declined });
    expect(body['stream_options']).toEqual({ include_usage: true, include_obfuscation: false });
  });

  it.each([
    ['DeepSeek', { prompt_cache_hit_tokens: 5 }],
    ['Moonshot', { cached_tokens: 5 }],
    ['Mistral', { num_cached_tokens: 5, prompt_tokens_details: { audio_tokens: 0 } }],
  ])('has the cached tokens of %s where clients read them, streamed and whole', (_vendor, counts) => {
    const options = { stream: true, stream_options: { include_usage: true } };
    const counted = { input: 9, output: 2, cacheRead: 5 };
    const reported = { prompt_tokens: 9, completion_tokens: 2, ...counts };
    const streamed = adapterOf('chat', options).event(
      `data: ${JSON.stringify({ choices: [], usage: reported })}\n\n`,
      counted,
    );
    const whole = adapterOf('chat').whole(JSON.stringify({ choices: [], usage: reported }), counted);
    for (const body of [dataOf(streamed), JSON.parse(whole) as JsonObject]) {
      expect(body['usage']).toMatchObject({ ...reported, prompt_tokens_details: { cached_tokens: 5 } });
    }
  });

  it('shows the usage that the client has asked for', () => {
    const adapter = adapterOf('chat', { stream: true, stream_options: { include_usage: true } });
    const counted = { input: 1, output: 2 };
    expect(adapter.event(usage, counted)).toBe(usage);
    expect(adapter.event(done, counted)).toBe(done);
    expect(adapter.end(counted)).toBe('');
  });

  it.each([
    ['an empty answer', '', { prompt_tokens: 7, completion_tokens: 0 }, 0],
    ['an answer counted as empty', 'x'.repeat(40), { prompt_tokens: 7, completion_tokens: 0 }, 10],
  ])('has one usage chunk after %s, because clients add up what they get', (_answer, content, reported, output) => {
    const adapter = adapterOf('chat', { stream: true, stream_options: { include_usage: true } });
    const counted = { input: 7, output: 0 };
    adapter.event(`data: ${JSON.stringify({ id: 'c', choices: [{ delta: { content } }] })}\n\n`);
    const last = `data: ${JSON.stringify({ id: 'c', choices: [], usage: { ...reported, cost: 0.1 }, x: 1 })}\n\n`;
    const text = adapter.event(last, counted) + adapter.event('data: [DONE]\n\n', counted);
    const chunks = text.split('\n\n').slice(0, -2);
    expect(chunks).toHaveLength(1);
    expect(dataOf(chunks.join(''))).toMatchObject({
      x: 1,
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: output, total_tokens: 7 + output, cost: 0.1 },
    });
  });

  it('has its usage once after an empty answer if the upstream puts it into the last choice', () => {
    const adapter = adapterOf('chat', { stream: true, stream_options: { include_usage: true } });
    const counted = { input: 9, output: 0 };
    const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }];
    const last = `data: ${JSON.stringify({ id: 'c', choices, usage: { prompt_tokens: 9, completion_tokens: 0 } })}\n\n`;
    expect(adapter.event(last, counted) + adapter.event(done, counted)).toBe(last + done);
  });

  it('gets a usage chunk when the client has asked and the upstream has not given it', () => {
    const adapter = adapterOf('chat', { stream: true, stream_options: { include_usage: true } });
    const choice = { index: 0, delta: { content: 'x' }, finish_reason: 'stop' };
    adapter.event(`data: ${JSON.stringify({ id: 'c', model: 'm', choices: [choice] })}\n\n`);
    const ending = adapter.event(done);
    expect(ending.endsWith(done)).toBe(true);
    expect(dataOf(ending.slice(0, -done.length))).toMatchObject({
      id: 'c',
      choices: [],
      usage: { completion_tokens: 1 },
    });
    expect(adapter.end()).toBe('');
  });

  it.each([
    ['x_groq, as Groq does', { x_groq: { usage: { prompt_tokens: 7 } } }, {}],
    ['the choice, as Moonshot does', {}, { usage: { prompt_tokens: 7 } }],
  ])('gets a usage chunk with the counts that the upstream reports inside %s', (_place, inChunk, inChoice) => {
    const choices = [{ index: 0, delta: {}, finish_reason: 'stop', ...inChoice }];
    const adapter = adapterOf('chat', { stream: true, stream_options: { include_usage: true } });
    const counted = { input: 7, output: 3 };
    const text = `data: ${JSON.stringify({ id: 'c', choices, ...inChunk })}\n\n`;
    expect(adapter.event(text, counted)).toBe(text);
    const ending = adapter.event(done, counted);
    expect(dataOf(ending.slice(0, -done.length))).toMatchObject({
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
    expect(adapter.end(counted)).toBe('');
  });

  it('gets it at the end when the upstream forgets the [DONE]', () => {
    const adapter = adapterOf('chat', { stream: true, stream_options: { include_usage: true } });
    expect(dataOf(adapter.end({ input: 5 }) ?? '')).toMatchObject({ usage: { prompt_tokens: 5 } });
  });

  it('gets none when the client has not asked', () => {
    const adapter = adapterOf('chat', { stream: true });
    expect([adapter.event(done), adapter.end()]).toEqual([done, '']);
  });
});

const chatChunk = (delta: object): string => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })}\n\n`;

describe('a stream that leaves something out', () => {
  it.each(['messages', 'responses'] as const)('of %s gets the names of its events', (format) => {
    const data = '{"type":"ping"}';
    expect(adapterOf(format).event(`data: ${data}\n\n`)).toBe(`event: ping\ndata: ${data}\n\n`);
    expect(adapterOf(format).event(`event: ping\ndata: ${data}\n\n`)).toBe(`event: ping\ndata: ${data}\n\n`);
  });

  it('of Chat that breaks off gets no usage before its error, although its client asked for it, as in other formats', () => {
    const adapter = adapterOf('chat', { stream: true, stream_options: { include_usage: true } });
    adapter.event(chatChunk({ content: 'hi' }));
    const error = 'data: {"error":{"message":"gone"}}\n\ndata: [DONE]\n\n';
    expect(adapter.failure(error)).toBe(error);
  });

  it('of Chat that breaks off gets no finish reason before its error', () => {
    const adapter = adapterOf('chat', { stream: true });
    adapter.event(chatChunk({ content: 'hi' }));
    const error = 'data: {"error":{"message":"gone"}}\n\ndata: [DONE]\n\n';
    expect(adapter.failure(error)).toBe(error);
  });
});

it('a Chat reply of Ollama, which counts nothing when it aborts an answer that repeats itself, gets a guess', () => {
  const messages = [{ role: 'user', content: 'x'.repeat(80) }];
  const content = 'E'.repeat(40);
  const body = {
    id: 'chatcmpl-363',
    object: 'chat.completion',
    created: 1,
    model: 'tiny',
    system_fingerprint: 'fp_ollama',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: null }],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  };
  const zero = { input: 0, output: 0 };
  const { usage } = JSON.parse(adapterOf('chat', { messages }).whole(JSON.stringify(body), zero)) as JsonObject;
  expect(usage).toMatchObject({ completion_tokens: 10, prompt_tokens: expect.any(Number) });
  expect((usage as JsonObject)['prompt_tokens']).toBeGreaterThan(9);
});
