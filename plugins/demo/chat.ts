import type { JsonObject } from '#core/json.ts';
import type { Answer, StreamEvent } from './answer.ts';
import { errorBody } from './error-body.ts';
import { createIdentity } from './identity.ts';
import { readChatPrompt } from './chat-prompt.ts';
import { lastUserText, member } from './prompt.ts';
import { isToolCall, joinTokens, type Script, type ToolCallPart, writeScript } from './script.ts';

/** Chat Completions. Source: OpenAI API reference, "Chat"; `reasoning_content` is what other vendors add to it. */
export function answerChat(body: JsonObject): Answer {
  const prompt = readChatPrompt(body);
  const script = writeScript(prompt);
  const { id, created } = createIdentity();
  const head = { id: `chatcmpl-${id}`, created, model: prompt.model, system_fingerprint: 'demo' };
  const calls = script.parts.filter(isToolCall).map((part, index) => writeCall(part, id, index));
  return {
    model: prompt.model,
    text: lastUserText(prompt),
    isStream: prompt.isStream,
    whole: () => ({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: writeMessage(script, calls), finish_reason: script.finish, logprobs: null }],
      usage: writeUsage(script),
    }),
    events: () => writeEvents(script, calls, head, member(body['stream_options'], 'include_usage') === true),
    failure: (message) => errorBody('openai', 500, message),
    failureEvent: (message) => ({ data: errorBody('openai', 500, message) }),
  };
}

interface Call {
  readonly part: ToolCallPart;
  /** The call without its arguments, as a stream opens it. */
  readonly opening: JsonObject;
  readonly whole: JsonObject;
}

function writeCall(part: ToolCallPart, id: string, index: number): Call {
  const { name, schema } = part.tool;
  const [type, input] = schema === undefined ? ['custom', 'input'] : ['function', 'arguments'];
  const write = (text: string) => ({ id: `call_${id}${index}`, type, [type]: { name, [input]: text } });
  return { part, opening: write(''), whole: write(joinTokens(part)) };
}

function writeMessage(script: Script, calls: readonly Call[]): object {
  const reasoning = script.parts.find(({ type }) => type === 'reasoning');
  const text = script.parts.find(({ type }) => type === 'text');
  return {
    role: 'assistant',
    content: text === undefined ? null : joinTokens(text),
    refusal: null,
    ...(reasoning && { reasoning_content: joinTokens(reasoning) }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ whole }) => whole) }),
    annotations: [],
  };
}

function writeEvents(script: Script, calls: readonly Call[], head: object, includeUsage: boolean): StreamEvent[] {
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, after?: StreamEvent['after'], finish: string | null = null): StreamEvent => ({
    data: {
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
      ...usage,
    },
    ...(after && { after }),
  });
  const deltas = script.parts.flatMap((part) => {
    const call = calls.findIndex((entry) => entry.part === part);
    if (call !== -1) return writeCallDeltas(calls[call] as Call, call).map((delta) => chunk(delta, 'token'));
    const name = part.type === 'reasoning' ? 'reasoning_content' : 'content';
    const first = part.type === 'reasoning' ? 'thinking' : 'token';
    return part.tokens.map((token, index) => chunk({ [name]: token }, index === 0 ? first : 'token'));
  });
  return [
    chunk({ role: 'assistant', content: calls.length === 0 ? '' : null, refusal: null }, 'start'),
    ...deltas,
    chunk({}, undefined, script.finish),
    ...(includeUsage
      ? [{ data: { ...head, object: 'chat.completion.chunk', choices: [], usage: writeUsage(script) } }]
      : []),
    { data: '[DONE]' },
  ];
}

function writeCallDeltas({ part, opening }: Call, index: number): object[] {
  const isFreeform = opening['type'] === 'custom';
  const continuation = (token: string) =>
    isFreeform ? { custom: { input: token } } : { function: { arguments: token } };
  return [
    { tool_calls: [{ index, ...opening }] },
    ...part.tokens.map((token) => ({ tool_calls: [{ index, ...continuation(token) }] })),
  ];
}

function writeUsage({ usage }: Script): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
