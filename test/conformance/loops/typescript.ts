import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { loop } from './looping-upstream.ts';

/** What a client is given. `pdf` is undefined where the model reads none. */
export interface Given {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly stream: boolean;
  readonly image: string; // base64
  readonly pdf: string | undefined; // base64
}

/** The clients of this process, each a function to its last text. Their versions are those of package.json. */
export const ownClients: Readonly<Record<string, (given: Given) => Promise<string>>> = {
  'anthropic-typescript': runAnthropic,
  'openai-typescript': runOpenAi,
};

const schema = { type: 'object' as const, properties: {} };

function base64Source(media_type: string, data: string) {
  return { type: 'base64', media_type, data };
}

async function runAnthropic({ url, key, model, stream, image, pdf }: Given): Promise<string> {
  const look = {
    name: 'look',
    description: 'Looks.',
    input_schema: schema,
    parse: () => ({}),
    run: () => loop.result,
  };
  const content = [
    { type: 'image', source: base64Source('image/png', image) },
    ...(pdf === undefined ? [] : [{ type: 'document', source: base64Source('application/pdf', pdf) }]),
    { type: 'text', text: loop.question },
  ];
  const client = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
  const messages = [{ role: 'user', content }];
  const params = { model, max_tokens: 100, system: 'Be brief.', messages, tools: [look], stream };
  const runner = client.beta.messages.toolRunner(params as never);
  const last = (await runner.runUntilDone()) as Anthropic.Beta.BetaMessage;
  return last.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** Gives every message back as it came, with what it may have of reasoning. */
async function runOpenAi({ url, key, model, stream, image, pdf }: Given): Promise<string> {
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
  const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'look', parameters: schema } }];
  const file = { filename: 'map.pdf', file_data: `data:application/pdf;base64,${pdf}` };
  const content: OpenAI.ChatCompletionContentPart[] = [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } },
    ...(pdf === undefined ? [] : [{ type: 'file', file } as const]),
    { type: 'text', text: loop.question },
  ];
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content }];
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
    for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: loop.result });
  }
  return 'it never ended';
}
