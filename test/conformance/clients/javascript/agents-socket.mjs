// OpenAI's Agents SDK over one WebSocket: a chain of `previous_response_id`, then the whole history in each request.
import { Agent, OpenAIResponsesWSModel, setTracingDisabled, tool, withResponsesWebSocketSession } from '@openai/agents';
import { z } from 'zod';

setTracingDisabled(true);

const look = tool({ name: 'look', description: 'Looks.', parameters: z.object({}), execute: async () => 'nothing' });

export function play(_client, loop) {
  const providerOptions = {
    apiKey: loop.key,
    baseURL: `${loop.url}/v1`,
    useResponses: true,
    useResponsesWebSocket: true,
  };
  return withResponsesWebSocketSession((session) => converse(session, loop), { providerOptions });
}

async function converse(session, loop) {
  const model = await session.provider.getModel(loop.model);
  expect('the transport is a WebSocket', model instanceof OpenAIResponsesWSModel, true);
  await checkRefusal(session);
  const agent = new Agent({ name: 'Scout', instructions: 'Be brief.', model: loop.model, tools: [look] });
  const before = await session.run(new Agent({ name: 'Guest', model: loop.model }), 'Who are you?');
  const chained = await ask(session, loop, agent, { previousResponseId: before.lastResponseId });
  const whole = await ask(session, loop, agent);
  expect('the chain', chained, whole);
  return whole;
}

async function ask(session, loop, agent, options = {}) {
  const asked = [{ role: 'user', content: parts(loop) }];
  if (!loop.stream) return (await session.run(agent, asked, { ...options, maxTurns: 4 })).finalOutput;
  const result = await session.run(agent, asked, { ...options, maxTurns: 4, stream: true });
  for await (const _ of result);
  await result.completed;
  return result.finalOutput;
}

/** The SDK keeps of an error only that there was one, and opens the connection that it has closed for it anew. */
async function checkRefusal(session) {
  const refused = await session.run(new Agent({ name: 'Lost', model: 'nowhere' }), 'Who are you?').then(
    () => 'nothing',
    ({ message }) => message,
  );
  expect('the refusal', refused, 'OpenAI Responses request ended with unsuccessful terminal state "error".');
}

function parts({ image, pdf, question }) {
  const file = { type: 'input_file', file: `data:application/pdf;base64,${pdf}`, filename: 'map.pdf' };
  return [
    { type: 'input_image', image: `data:image/png;base64,${image}` },
    ...(pdf === undefined ? [] : [file]),
    { type: 'input_text', text: question },
  ];
}

function expect(what, found, wanted) {
  if (found !== wanted) throw new Error(`${what}: ${found} in place of ${wanted}`);
}
