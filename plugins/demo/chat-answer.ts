import { randomBytes } from 'node:crypto';
import type { DemoRequest } from './chat-request.ts';
import { type DemoScript, isToolCall, joinTokens, type ToolCallStep, composeScript } from './script.ts';

export type ModelWork = 'start' | 'thinking' | 'token';

export interface TimedChunk {
  readonly data: object | '[DONE]';
  readonly workBefore?: ModelWork; // undefined for chunks that carry only structure
}

export interface ChatAnswer {
  createResponse(): object;
  createChunks(): readonly TimedChunk[];
}

interface WholeCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Source: OpenAI API reference, "Chat"; `reasoning_content` is DeepSeek's field for reasoning. */
export function createChatAnswer(request: DemoRequest): ChatAnswer {
  const script = composeScript(request);
  const id = createId('chatcmpl-');
  const head = { id, created: Math.floor(Date.now() / 1000), model: request.model, system_fingerprint: 'demo' };
  const calls = script.steps.filter(isToolCall).map(({ tool, tokens }, index) => ({
    id: `call_${id.slice('chatcmpl-'.length)}${index}`,
    type: 'function' as const,
    function: { name: tool.name, arguments: tokens.join('') },
  }));
  return {
    createResponse: () => ({
      ...head,
      object: 'chat.completion',
      choices: [
        { index: 0, message: createAssistantMessage(script, calls), finish_reason: script.finish, logprobs: null },
      ],
      usage: createUsage(script),
    }),
    createChunks: () => createTimedChunks(script, calls, head, request.includesUsage),
  };
}

export function createId(prefix: string): string {
  return `${prefix}demo${randomBytes(10).toString('hex')}`;
}

function createAssistantMessage({ steps }: DemoScript, calls: readonly WholeCall[]): object {
  const reasoning = steps.find(({ type }) => type === 'reasoning');
  const text = steps.find(({ type }) => type === 'text');
  return {
    role: 'assistant',
    content: text === undefined ? null : joinTokens(text),
    refusal: null,
    ...(reasoning && { reasoning_content: joinTokens(reasoning) }),
    ...(calls.length > 0 && { tool_calls: calls }),
    annotations: [],
  };
}

function createTimedChunks(
  script: DemoScript,
  calls: readonly WholeCall[],
  head: object,
  includesUsage: boolean,
): TimedChunk[] {
  const chunk = (members: object): object => ({ ...head, object: 'chat.completion.chunk', ...members });
  const choice = (delta: object, finish: string | null = null): object =>
    chunk({
      choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
      ...(includesUsage && { usage: null }),
    });
  const callSteps = script.steps.filter(isToolCall);
  const chunks = script.steps.flatMap((step): TimedChunk[] => {
    const name = step.type === 'reasoning' ? 'reasoning_content' : 'content';
    const deltas = isToolCall(step)
      ? createCallDeltas(step, calls, callSteps.indexOf(step))
      : step.tokens.map((token) => ({ [name]: token }));
    const firstWork = step.type === 'reasoning' ? 'thinking' : 'token';
    return deltas.map((delta, index) => ({ data: choice(delta), workBefore: index === 0 ? firstWork : 'token' }));
  });
  return [
    {
      data: choice({ role: 'assistant', content: calls.length === 0 ? '' : null, refusal: null }),
      workBefore: 'start',
    },
    ...chunks,
    { data: choice({}, script.finish) },
    ...(includesUsage ? [{ data: chunk({ choices: [], usage: createUsage(script) }) }] : []),
    { data: '[DONE]' },
  ];
}

function createCallDeltas({ tool, tokens }: ToolCallStep, calls: readonly WholeCall[], index: number): object[] {
  const firstDelta = { index, id: calls[index]?.id, type: 'function', function: { name: tool.name, arguments: '' } };
  return [
    { tool_calls: [firstDelta] },
    ...tokens.map((token) => ({ tool_calls: [{ index, function: { arguments: token } }] })),
  ];
}

function createUsage({ usage }: DemoScript): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
