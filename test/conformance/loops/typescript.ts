import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { loop } from '../../support/looping-upstream.ts';

export type Loop = (place: { url: string; key: string; model: string; stream: boolean }) => Promise<string>;

/** The clients of this process. Their versions are those of package.json. */
export const ownClients: Readonly<Record<string, Loop>> = {
  'anthropic-typescript': runAnthropic,
  'openai-typescript': runOpenAi,
};

const asked = { role: 'user' as const, content: loop.question };
const schema = { type: 'object' as const, properties: {} };

async function runAnthropic({ url, key, model, stream }: Parameters<Loop>[0]): Promise<string> {
  const look = {
    name: 'look',
    description: 'Looks.',
    input_schema: schema,
    parse: () => ({}),
    run: () => 'nothing',
  };
  const client = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
  const params = { model, max_tokens: 100, system: 'Be brief.', messages: [asked], tools: [look], stream };
  const runner = client.beta.messages.toolRunner(params as never);
  const { content } = (await runner.runUntilDone()) as Anthropic.Beta.BetaMessage;
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** Gives every message back as it came, with what it may have of reasoning. */
async function runOpenAi({ url, key, model, stream }: Parameters<Loop>[0]): Promise<string> {
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
  const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'look', parameters: schema } }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [asked];
  for (let turn = 0; turn < 4; turn++) {
    const body = { model, messages, tools };
    const completion = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    const message = completion.choices[0]?.message;
    if (message === undefined) return 'no choice';
    messages.push(message);
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) return message.content ?? '';
    for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'nothing' });
  }
  return 'it never ended';
}
