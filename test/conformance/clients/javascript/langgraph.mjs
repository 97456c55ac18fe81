// An agent of LangGraph. A client is `langgraph-API`.
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, HumanMessage, tool } from 'langchain';
import { z } from 'zod';

const models = {
  'openai-chat': (loop) => openai(loop, false),
  'openai-responses': (loop) => openai(loop, true),
  anthropic: ({ url, key, model }) => new ChatAnthropic({ model, apiKey: key, anthropicApiUrl: url, maxRetries: 0 }),
};

function openai({ url, key, model }, useResponsesApi) {
  return new ChatOpenAI({
    model,
    apiKey: key,
    configuration: { baseURL: `${url}/v1` },
    useResponsesApi,
    maxRetries: 0,
  });
}

const look = tool(() => 'nothing', { name: 'look', description: 'Looks.', schema: z.object({}) });

export async function play(client, loop) {
  const model = models[client.slice('langgraph-'.length)](loop);
  const agent = createAgent({ model, tools: [look], systemPrompt: 'Be brief.' });
  const file = { type: 'file', mimeType: 'application/pdf', data: loop.pdf, metadata: { filename: 'map.pdf' } };
  const contentBlocks = [
    { type: 'image', mimeType: 'image/png', data: loop.image },
    ...(loop.pdf === undefined ? [] : [file]),
    { type: 'text', text: loop.question },
  ];
  const asked = { messages: [new HumanMessage({ contentBlocks })] };
  // Two steps for each of four turns.
  const limits = { recursionLimit: 9 };
  if (!loop.stream) return (await agent.invoke(asked, limits)).messages.at(-1).text;
  return lastOf(await agent.stream(asked, { ...limits, streamMode: 'messages' }));
}

/** The text of the last message, whose pieces have one id. */
async function lastOf(pieces) {
  let [id, text] = [undefined, ''];
  for await (const [piece] of pieces) {
    if (piece.id !== id) [id, text] = [piece.id, ''];
    text += piece.text;
  }
  return text;
}
