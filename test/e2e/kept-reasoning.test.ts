import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';
import { createGeminiUpstream, ownSignature } from '../support/gemini-upstream.ts';
import { createThinkingUpstream, thoughts } from '../support/thinking-upstream.ts';

let thinker: FaultyUpstream;
let google: FaultyUpstream;
let gateway: TestGateway;
let other: TestGateway;
beforeAll(async () => {
  [thinker, google] = await Promise.all([createThinkingUpstream(), createGeminiUpstream()]);
  const upstream = (name: string, format: string) =>
    `  ${name}: { format: ${format}, base_url: "${thinker.url}/${name}", api_keys: [k] }`;
  const replays = '{ replay_reasoning: tool_turns }';
  const sections = `
upstreams:
${upstream('responses', 'responses')}
${upstream('messages', 'messages')}
${upstream('chat', 'chat')}
${upstream('elsewhere', 'chat')}
${upstream('inline', 'chat')}
${upstream('moved', 'responses')}
  google: { vendor: gemini, base_url: "${google.url}/v1beta", api_keys: [k] }
models:
${modelLine('responses')}
${modelLine('messages', '{ reasoning: adaptive }')}
${modelLine('chat', replays)}
${modelLine('elsewhere', replays)}
${modelLine('inline', '{ replay_reasoning: tool_turns, inline_thinking: true }')}
${modelLine('moved')}
  gemini: { routes: [google/gemini-3-there] }
`;
  const off = wholePipeline.replace('- format', '- format: { keep_reasoning_hours: 0 }');
  gateway = await startGateway({ yaml: wholePipeline + sections });
  other = await startGateway({ yaml: off + sections });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await thinker[Symbol.asyncDispose]();
  await google[Symbol.asyncDispose]();
});

function modelLine(name: string, quirks = '{}'): string {
  return `  ${name}: { routes: [${name}/there], quirks: ${quirks} }`;
}

type Message = OpenAI.ChatCompletionMessageParam;

interface WithDetails {
  readonly reasoning_details: readonly JsonObject[];
}

const tools = ['look', 'wait'].map((name) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: {} } },
}));

async function ask(model: string, messages: Message[], isStream = false, key = gateway.key, from = gateway) {
  const openai = new OpenAI({ apiKey: key, baseURL: `${from.url}/v1`, maxRetries: 0 });
  const body = { model, messages, tools };
  const completion = isStream
    ? await openai.chat.completions.stream(body).finalChatCompletion()
    : await openai.chat.completions.create(body);
  return completion.choices[0]?.message as OpenAI.ChatCompletionMessage;
}

/** The next turn of a client that returns only text and calls. */
async function takeTurn(model: string, question: string, isStream = false, from = gateway): Promise<Message[]> {
  const asked: Message = { role: 'user', content: question };
  const { content, tool_calls = [] } = await ask(model, [asked], isStream, from.key, from);
  const results = tool_calls.map(({ id }): Message => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
  return [asked, { role: 'assistant', content, tool_calls }, ...results];
}

function lastRequest(upstream: FaultyUpstream): JsonObject {
  return upstream.requests.at(-1)?.json<JsonObject>() ?? {};
}

const signed = { type: 'thinking', thinking: thoughts.text, signature: thoughts.state };

describe.each([false, true])('a Chat client that returns only text and calls, streaming: %s', (isStream) => {
  it('has its reasoning restored for a Responses upstream', async () => {
    const answer = await ask('responses', await takeTurn('responses', `r ${isStream}`, isStream), isStream);
    expect(answer.content).toBe('Done.');
    expect((lastRequest(thinker)['input'] as JsonObject[]).slice(1, 4)).toMatchObject([
      { type: 'reasoning', encrypted_content: thoughts.state, summary: [{ text: thoughts.text }] },
      { type: 'function_call', call_id: 'call_1' },
      { type: 'function_call', call_id: 'call_2' },
    ]);
  });

  it('has its thinking restored for a Messages upstream, before the text', async () => {
    const answer = await ask('messages', await takeTurn('messages', `m ${isStream}`, isStream), isStream);
    expect(answer.content).toBe('Done.');
    expect((lastRequest(thinker)['messages'] as JsonObject[])[1]?.['content']).toMatchObject([
      signed,
      { type: 'text' },
      { type: 'tool_use' },
      { type: 'tool_use' },
    ]);
  });

  it('has its thought signature restored for Gemini, at the first call', async () => {
    await ask('gemini', await takeTurn('gemini', `g ${isStream}`, isStream), isStream);
    const [, content] = lastRequest(google)['contents'] as { parts: JsonObject[] }[];
    expect(content?.parts).toMatchObject([
      { text: 'Let me look.' },
      { functionCall: { name: 'look' }, thoughtSignature: ownSignature },
      { functionCall: { name: 'wait' } },
    ]);
  });

  it.each([
    ['all that it got', ['reasoning_content', 'reasoning_details']],
    ['the state without the text', ['reasoning_details']],
    ['the text without the state', ['reasoning_content']],
  ])('that returns %s has the signature restored at the first call, too', async (what, returned) => {
    for (const from of returned.includes('reasoning_details') ? [gateway, other] : [gateway]) {
      const asked: Message = { role: 'user', content: `g ${isStream} ${what}` };
      const message = await ask('gemini', [asked], isStream, from.key, from);
      const { content, tool_calls = [] } = message;
      const kept = Object.fromEntries(Object.entries(message).filter(([name]) => returned.includes(name)));
      expect(Object.keys(kept).toSorted()).toEqual(returned);
      const results = tool_calls.map(({ id }): Message => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
      const turn: Message[] = [asked, { role: 'assistant', content, tool_calls, ...kept }, ...results];
      await ask('gemini', turn, isStream, from.key, from);
      const [, answer] = lastRequest(google)['contents'] as { parts: JsonObject[] }[];
      expect(answer?.parts).toEqual([
        { text: 'Let me look.' },
        { functionCall: expect.objectContaining({ name: 'look' }), thoughtSignature: ownSignature },
        { functionCall: expect.objectContaining({ name: 'wait' }) },
      ]);
    }
  });

  // As `@openrouter/ai-sdk-provider` 2.10.0 and 3.1.0 return it: `{"type":"reasoning.encrypted","data":"dps1s…","index":0}`.
  it.each([
    ['messages', thoughts.text],
    ['responses', thoughts.state], // Valid without its text.
  ])('that returns the state with neither text nor length gets restored what %s needs', async (model, needed) => {
    const asked: Message = { role: 'user', content: `d ${isStream} ${model}` };
    const message = (await ask(model, [asked], isStream)) as OpenAI.ChatCompletionMessage & WithDetails;
    const { content, tool_calls = [], reasoning_details: details } = message;
    const results = tool_calls.map(({ id }): Message => ({ role: 'tool', tool_call_id: id, content: 'ok' }));
    const kept = { reasoning_details: details.map(({ text_length: _length, ...entry }) => entry) };
    const answer = await ask(model, [asked, { role: 'assistant', content, tool_calls, ...kept }, ...results], isStream);
    expect(answer.content).toBe('Done.');
    expect(JSON.stringify(lastRequest(thinker))).toContain(needed);
  });

  it('has the text of its reasoning restored for a Chat upstream', async () => {
    const answer = await ask('chat', await takeTurn('chat', `c ${isStream}`, isStream), isStream);
    expect(answer.content).toBe('Done.');
    expect((lastRequest(thinker)['messages'] as JsonObject[])[1]).toMatchObject({ reasoning_content: thoughts.text });
  });

  it('has reasoning restored inside the text for a model that reasons there', async () => {
    await ask('inline', await takeTurn('inline', `i ${isStream}`, isStream), isStream);
    const [, answer] = lastRequest(thinker)['messages'] as JsonObject[];
    expect(answer?.['content']).toContain(`<think>\n${thoughts.text}\n</think>`);
  });
});

describe('kept reasoning', () => {
  it.each([
    ['responses', 'moved'],
    ['chat', 'elsewhere'],
    ['messages', 'responses'],
  ])('of %s does not go to %s, another upstream', async (from, to) => {
    await ask(to, await takeTurn(from, `${from} to ${to}`));
    const sent = JSON.stringify(lastRequest(thinker));
    expect(sent).toContain('call_1');
    expect(sent).not.toContain(thoughts.text);
    expect(sent).not.toContain(thoughts.state);
  });

  it('is not found by another account', async () => {
    const turn = await takeTurn('responses', 'mine');
    const period = { days: 1, reason: 'grant' } as const;
    const { key } = await createAccount(gateway.database, 'dp', { name: 'Other', period });
    await ask('responses', turn, false, key);
    expect(JSON.stringify(lastRequest(thinker))).not.toContain(thoughts.state);
  });

  it('is not found in another conversation of the account, where the vendor only numbers its calls', async () => {
    const [, ...rest] = await takeTurn('chat', 'first conversation');
    await ask('chat', [{ role: 'user', content: 'second conversation' }, ...rest]);
    expect((lastRequest(thinker)['messages'] as JsonObject[])[1]).toMatchObject({ reasoning_content: '' });
  });

  it('is not used where the client returns reasoning itself', async () => {
    const [question, answer, ...results] = await takeTurn('chat', 'returned');
    const returned = { ...answer, reasoning_content: 'My own.' } as unknown as Message;
    await ask('chat', [question as Message, returned, ...results]);
    expect((lastRequest(thinker)['messages'] as JsonObject[])[1]).toMatchObject({ reasoning_content: 'My own.' });
  });

  it('is found after a change of the system prompt', async () => {
    const turn = await takeTurn('chat', 'dated');
    await ask('chat', [{ role: 'system', content: 'It is noon.' }, ...turn]);
    expect((lastRequest(thinker)['messages'] as JsonObject[])[2]).toMatchObject({ reasoning_content: thoughts.text });
  });

  it.each(['responses', 'chat'])('is not restored for %s where the operator has turned it off', async (model) => {
    const turn = await takeTurn(model, 'off', false, other);
    await ask(model, turn, false, other.key, other);
    const sent = JSON.stringify(lastRequest(thinker));
    expect(sent).toContain('call_1');
    expect(sent).not.toContain(thoughts.text);
  });
});
