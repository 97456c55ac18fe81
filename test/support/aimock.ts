import {
  type ChatCompletionRequest,
  type Fixture,
  type FixtureResponse,
  type JournalEntry,
  LLMock,
} from '@copilotkit/aimock';

/* A third-party mock of the vendors as upstream, so that the implementations on both sides of the gateway are independent of it. */

export interface Aimock extends AsyncDisposable {
  readonly url: string; // without the version: `/v1` for OpenAI's and Anthropic's formats, `/v1beta` for Gemini's
  lastRequest(): JournalEntry | null; // bodies have the shape of Chat Completions, regardless of the path
}

/** The only key that the mock accepts, so an answer proves that the gateway replaced the client's key. */
export const upstreamKey = 'upstream-secret';

/** Gives the counts under every vendor's names. */
const usage = {
  input_tokens: 21,
  output_tokens: 8,
  promptTokenCount: 21,
  candidatesTokenCount: 8,
  totalTokenCount: 29,
};

/** The calls in answer to a prompt about the weather: parallel, one without arguments. */
export const toolCalls = [
  { id: 'call_weather', name: 'get_weather', arguments: '{"city":"Oslo","unit":"celsius"}' },
  { id: 'call_cities', name: 'list_cities', arguments: '{}' },
] as const;

export const toolResults = { get_weather: '4 degrees', list_cities: 'Oslo, Bergen' } as const;

/** The mock's answer if each result arrives with its call. */
export const repeatedResults = toolCalls
  .map(({ name, arguments: input }) => `${name}(${input}) = ${toolResults[name]}`)
  .join('; ');

const fixtures: readonly Fixture[] = [
  { match: { userMessage: 'hello' }, response: { content: 'Hello from the mock: ☀ ß 🙂.', usage } },
  { match: { userMessage: 'think' }, response: { content: 'It is 42.', reasoning: 'Six times seven.', usage } },
  { match: { userMessage: 'at length' }, response: { content: 'And so it', finishReason: 'length', usage } },
  { match: { userMessage: 'weather', hasToolResult: true }, response: repeatResults },
  { match: { userMessage: 'weather' }, response: { toolCalls: [...toolCalls], usage } },
  {
    match: { userMessage: 'say first' },
    response: { content: 'Let me look.', toolCalls: [toolCalls[0]], usage },
  },
  { match: { userMessage: 'repeat' }, response: repeatConversation },
  { match: { userMessage: /fail with \d+/ }, response: fail },
  { match: { userMessage: 'lighthouse', endpoint: 'image' }, response: { image: { b64Json: 'aGVsbG8=' } } },
];

/** Names each call with its result, so that a missing or swapped pair shows. */
function repeatResults({ messages }: ChatCompletionRequest): FixtureResponse {
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  const results = messages
    .filter(({ role }) => role === 'tool')
    .map((result) => {
      const call = calls.find(({ id }) => id === result.tool_call_id)?.function;
      return `${call?.name}(${call?.arguments}) = ${unwrapResult(joinText(result.content))}`;
    });
  return { content: results.join('; '), usage };
}

/** Gemini requires results to be objects, so a text is wrapped in one. */
function unwrapResult(result: string): string {
  if (!result.startsWith('{')) return result;
  return String((JSON.parse(result) as { result?: unknown }).result);
}

function repeatConversation({ messages }: ChatCompletionRequest): FixtureResponse {
  return { content: messages.map(({ role, content }) => `${role}: ${joinText(content)}`).join(' | '), usage };
}

function joinText(content: ChatCompletionRequest['messages'][number]['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text }) => text ?? '').join('');
}

function fail({ messages }: ChatCompletionRequest): FixtureResponse {
  const status = Number(/fail with (\d+)/.exec(joinText(messages.at(-1)?.content ?? ''))?.[1]);
  const type = status === 429 ? 'rate_limit_error' : 'invalid_request_error';
  const error = { message: `the mock says ${status}`, type, param: 'messages[0].content', code: 'mock_code' };
  return { error, status, retryAfter: 7 };
}

/** An unknown prompt gets 503, an invalid conversation 400. */
export async function startAimock(): Promise<Aimock> {
  const mock = new LLMock({
    host: '127.0.0.1',
    port: 0,
    strict: true,
    chunkSize: 5,
    auth: { apiKeys: [upstreamKey] },
  });
  mock.addFixtures([...fixtures]);
  const url = await mock.start();
  return {
    url,
    lastRequest: () => mock.getLastRequest(),
    [Symbol.asyncDispose]: () => mock.stop(),
  };
}
