import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../support/gateway.ts';

let plain: FaultyUpstream;
let searching: FaultyUpstream;
let gateway: TestGateway;
let anthropic: Anthropic;
let claudeCode: Anthropic;
let openai: OpenAI;
beforeAll(async () => {
  const said = {
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content: 'plain' }, finish_reason: 'stop' }],
  };
  plain = await createUpstream((_request, response) => response.json(200, said));
  const found = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'searched' }] };
  const usage = { input_tokens: 1, output_tokens: 1 };
  searching = await createUpstream((request, response) => {
    const isDown = request.body.includes('while down');
    if (isDown) return response.json(503, { error: { message: 'down' } });
    return response.json(200, { ...found, id: 'm', model: 'x', stop_reason: 'end_turn', usage });
  });
  const upstreams = ['chat', 'responses', 'messages', 'gemini'].map(
    (format) => `  ${format}: { format: ${format}, base_url: "${plain.url}/${format}", api_keys: [k] }`,
  );
  const models = ['chat', 'responses', 'messages', 'gemini'].map((name) => `  ${name}: { routes: [${name}/there] }`);
  gateway = await startGateway({
    yaml: `${wholePipeline}
upstreams:
${upstreams.join('\n')}
  claude: { vendor: anthropic, base_url: "${searching.url}/v1", api_keys: [k] }
models:
${models.join('\n')}
  backed: { routes: [chat/there, claude/claude-there] }
`,
  });
  anthropic = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
  claudeCode = new Anthropic({
    apiKey: gateway.key,
    baseURL: gateway.url,
    maxRetries: 0,
    defaultHeaders: { 'x-app': 'cli' },
  });
  openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
  await searching[Symbol.asyncDispose]();
});

const search = { type: 'web_search_20250305' as const, name: 'web_search' as const, max_uses: 8 };
const look = { name: 'look', input_schema: { type: 'object' as const, properties: {} } };
const messages = [{ role: 'user' as const, content: 'Perform a web search for the query: news' }];
const asks = { max_tokens: 9, messages };

describe.each(['chat', 'responses', 'messages', 'gemini'])('a search that no route of %s can run', (model) => {
  it.each([false, true])('fails for Claude Code as the tool itself does, streaming: %s', async (isStream) => {
    const count = plain.requests.length;
    const asked = { ...asks, model, tools: [search], tool_choice: { type: 'tool' as const, name: 'web_search' } };
    const message = isStream
      ? await claudeCode.messages.stream(asked).finalMessage()
      : await claudeCode.messages.create(asked);
    expect(message.content).toMatchObject([
      { type: 'server_tool_use', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', content: { type: 'web_search_tool_result_error', error_code: 'unavailable' } },
      { type: 'text', text: expect.stringContaining('web_search is not available with the model') },
    ]);
    expect(message.content[1]).toHaveProperty('tool_use_id', (message.content[0] as { id: string }).id);
    expect([message.stop_reason, plain.requests.length]).toEqual(['end_turn', count]);
  });

  it.each([search, { type: 'code_execution_20250825' as const, name: 'code_execution' as const }])(
    'is refused for other clients of Anthropic instead of answered by the gateway: $name',
    async (tool) => {
      const asked = anthropic.beta.messages.create({ ...asks, model, tools: [tool] });
      await expect(asked).rejects.toMatchObject({ status: 400 });
      await expect(asked).rejects.toThrow(/not supported by the model/);
    },
  );

  it('is refused for clients of OpenAI, with the names of tool and model', async () => {
    const asked = openai.responses.create({ model, input: 'news', tools: [{ type: 'web_search' }] });
    await expect(asked).rejects.toMatchObject({ status: 400, code: 'not_supported', param: 'tools' });
    await expect(asked).rejects.toThrow(new RegExp(`"web_search".*"(dp/)?${model}"`));
  });

  it('is refused for clients of Google', async () => {
    const response = await fetch(`${gateway.url}/v1beta/models/${model}:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'news' }] }], tools: [{ googleSearch: {} }] }),
    });
    const { error } = (await response.json()) as { error: JsonObject };
    expect([response.status < 500 || response.status === 501, error['message']]).toEqual([
      true,
      expect.stringMatching(new RegExp(`"(web_search|googleSearch)" are not supported by the model "(dp/)?${model}"`)),
    ]);
  });
});

describe.each(['chat', 'responses', 'messages', 'gemini'])(
  'a search that must be made, beside other tools on %s',
  (model) => {
    it('is refused for Anthropic clients', async () => {
      const tool_choice = { type: 'tool' as const, name: 'web_search' };
      const asked = anthropic.messages.create({ ...asks, model, tools: [look, search], tool_choice });
      await expect(asked).rejects.toMatchObject({ status: 400 });
    });

    it('is refused for OpenAI clients', async () => {
      const tools = [
        { type: 'web_search' as const },
        { type: 'function' as const, name: 'look', parameters: {}, strict: false },
      ];
      const tool_choice = { type: 'web_search' } as never;
      const asked = openai.responses.create({ model, input: 'news', tools, tool_choice });
      await expect(asked).rejects.toMatchObject({ status: 400, code: 'not_supported', param: 'tools' });
    });
  },
);

describe('a search beside other tools', () => {
  const tools = [look, search];

  it('is left out, with a note, where no route can run it', async () => {
    const { response } = await anthropic.messages.create({ ...asks, model: 'chat', tools }).withResponse();
    expect(response.headers.get('x-daypass-notes')).toContain('dropped web_search');
  });

  it('goes to the route that can run it, also when that is a backup', async () => {
    const { content } = await anthropic.messages.create({ ...asks, model: 'backed', tools });
    expect(content).toMatchObject([{ text: 'searched' }]);
    expect(searching.requests.at(-1)?.json<JsonObject>()['tools']).toHaveLength(2);
  });

  it('is left out on the next route if that one fails', async () => {
    const down = [{ role: 'user' as const, content: 'while down' }];
    const { content } = await anthropic.messages.create({ ...asks, messages: down, model: 'backed', tools });
    expect(content).toMatchObject([{ text: 'plain' }]);
  });
});

it('a request without such tools goes to the first route', async () => {
  const other = [{ role: 'user' as const, content: 'another conversation' }];
  const { content } = await anthropic.messages.create({ ...asks, messages: other, model: 'backed', tools: [look] });
  expect(content).toMatchObject([{ text: 'plain' }]);
});
