import { ChatRequestError } from './chat-error.ts';
import {
  type DemoMessage,
  type DemoRequest,
  type DemoTool,
  findLastUserText,
  findLatestToolResults,
} from './chat-request.ts';
import { findHints, createSample } from './sample.ts';
import { splitIntoTokens } from './tokens.ts';

/** The complete response and the stream are both made from it. */
export interface DemoScript {
  readonly steps: readonly ScriptStep[];
  readonly finish: 'stop' | 'length' | 'tool_calls';
  readonly usage: { readonly input: number; readonly output: number; readonly reasoning: number };
}

/** The joined `tokens` are the reasoning, the text, or a call's arguments as JSON. */
type ScriptStep = { readonly type: 'reasoning' | 'text'; readonly tokens: readonly string[] } | ToolCallStep;

export interface ToolCallStep {
  readonly type: 'tool_call';
  readonly tool: DemoTool;
  readonly tokens: readonly string[];
}

const maxCalls = 4;
const maxWords = 20_000;
const maxSearchedLength = 5_000;
const toolTags = ['system-reminder', 'environment_context'] as const; // around notes that coding tools add to the user's message
const filler = 'This sentence only makes the answer longer, so that there is more to stream.';

/** @throws ChatRequestError if the tool choice requires a tool that the request does not have */
export function composeScript(request: DemoRequest): DemoScript {
  const tools = chooseToolOfEachCall(request);
  const isReasoning = request.wantsReasoning ?? /\b(think|reason)(ing)?\b/i.test(readPrompt(request));
  const allSteps = [
    ...(isReasoning ? [createStep('reasoning', composeReasoning(request, tools))] : []),
    ...(tools.length > 0
      ? createCallSteps(request, tools)
      : [createStep('text', cutAtStop(composeAnswer(request), request.stops))]),
  ];
  const { steps, isTruncated } = truncate(allSteps, request.maxTokens ?? Infinity);
  const finish = isTruncated ? 'length' : tools.length > 0 ? 'tool_calls' : 'stop';
  return {
    steps,
    finish,
    usage: {
      input: request.inputTokens,
      output: countOutputTokens(steps),
      reasoning: countOutputTokens(steps.filter(({ type }) => type === 'reasoning')),
    },
  };
}

export function joinTokens({ tokens }: ScriptStep): string {
  return tokens.join('');
}

export function isToolCall(step: ScriptStep): step is ToolCallStep {
  return step.type === 'tool_call';
}

function createStep(type: 'reasoning' | 'text', text: string): ScriptStep {
  return { type, tokens: splitIntoTokens(text) };
}

function cutAtStop(text: string, stops: readonly string[]): string {
  const stopIndexes = stops.map((stop) => text.indexOf(stop)).filter((index) => index !== -1);
  return text.slice(0, Math.min(text.length, ...stopIndexes));
}

function countOutputTokens(steps: readonly ScriptStep[]): number {
  return steps.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** Tool calls are never split: one that does not fit is omitted. */
function truncate(allSteps: readonly ScriptStep[], limit: number): { steps: ScriptStep[]; isTruncated: boolean } {
  const steps: ScriptStep[] = [];
  let remainingTokens = limit;
  for (const step of allSteps) {
    if (step.tokens.length > remainingTokens) {
      if (!isToolCall(step) && remainingTokens > 0)
        steps.push({ ...step, tokens: step.tokens.slice(0, remainingTokens) });
      return { steps, isTruncated: true };
    }
    steps.push(step);
    remainingTokens -= step.tokens.length;
  }
  return { steps, isTruncated: false };
}

function readPrompt(request: DemoRequest): string {
  return toolTags.reduce(removeTag, findLastUserText(request)).trim().slice(0, maxSearchedLength);
}

/** Leaves an unclosed tag as it is. */
function removeTag(text: string, tag: string): string {
  const [first = '', ...others] = text.split(`<${tag}>`);
  const close = `</${tag}>`;
  return others.reduce((result, part) => {
    const end = part.indexOf(close);
    return result + (end === -1 ? part : part.slice(end + close.length));
  }, first);
}

function composeReasoning(request: DemoRequest, tools: readonly DemoTool[]): string {
  const names = tools.map(({ name }) => name).join(' and ');
  const plan = tools.length > 0 ? `I was asked to call ${names}, so I will.` : 'I will say so and repeat the question.';
  return `The user wrote “${shorten(readPrompt(request), 60)}”. I am only a demo and cannot reason. ${plan}`;
}

function composeAnswer(request: DemoRequest): string {
  const prompt = readPrompt(request);
  if (request.schema !== undefined) return JSON.stringify(createSample(request.schema, findHints(prompt)));
  const results = findLatestToolResults(request);
  if (results.length > 0)
    return `This is the demo upstream. The tools have answered. ${results.map(describeResult).join(' ')}`;
  const instructionResult = followInstruction(findLastUserText(request));
  if (instructionResult !== undefined) return instructionResult;
  const answer =
    `Hello! This is the demo upstream of your gateway: no model is involved. You wrote: “${shorten(prompt, 160)}”. ` +
    `For real answers, set an API key for an upstream in gateway.yaml and give this model a route to it.`;
  return `${answer}${composeFiller(prompt)}`;
}

function followInstruction(prompt: string): string | undefined {
  const [, from, to] = /\bnumbers from (\d{1,4}) to (\d{1,4})\b/i.exec(prompt) ?? [];
  if (from !== undefined && to !== undefined)
    return Array.from({ length: Math.max(1, Number(to) - Number(from) + 1) }, (_, index) => Number(from) + index).join(
      ' ',
    );
  const codes = [...prompt.matchAll(/\bcode is (\w{1,40})/gi)].map(([, code]) => code);
  if (codes.length > 0) return codes.join(', ');
  return /\[picture of ([^\]]+)\]/.exec(prompt)?.[1];
}

function describeResult({ text, tool }: DemoMessage): string {
  return `${tool ?? 'A tool'} returned: “${shorten(text, 200)}”.`;
}

/** Composes the words that a directive such as `[[words 500]]` requests. */
function composeFiller(prompt: string): string {
  const wordCount = Math.min(Number(/\[\[\s*words\s+(\d{1,6})\s*\]\]/i.exec(prompt)?.[1] ?? 0), maxWords);
  const words = filler.split(' ');
  return Array.from({ length: wordCount }, (_, index) => ` ${words[index % words.length]}`).join('');
}

function shorten(text: string, length: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function chooseToolOfEachCall(request: DemoRequest): DemoTool[] {
  const { tools, toolMode, allowedTools, allowsParallelCalls } = request;
  const usableTools = tools.filter(({ name }) => allowedTools?.includes(name) ?? true);
  if (toolMode === 'required' && usableTools.length === 0)
    throw new ChatRequestError('`tool_choice` requires a tool that is not in `tools`.', 'tool_choice');
  if (toolMode === 'none' || findLatestToolResults(request).length > 0) return [];
  const prompt = readPrompt(request);
  const namedTools = findNamedTools(usableTools, prompt);
  const calledTools = namedTools.length === 0 && toolMode === 'required' ? usableTools.slice(0, 1) : namedTools;
  if (!allowsParallelCalls) return calledTools.slice(0, 1);
  const isRepeated = calledTools.length === 1 && /\b(twice|in parallel|several times)\b/i.test(prompt);
  return isRepeated ? [...calledTools, ...calledTools] : calledTools.slice(0, maxCalls);
}

function findNamedTools(tools: readonly DemoTool[], prompt: string): DemoTool[] {
  const words = new Set(prompt.match(/[\p{L}\p{N}_-]+/gu));
  const exactMatches = tools.filter(({ name }) => words.has(name));
  if (exactMatches.length > 0 || !/\b(call|use|run)\b[^.?!]*\btools?\b/i.test(prompt)) return exactMatches;
  const lowerWords = new Set([...words].map((word) => word.toLowerCase()));
  const similarMatches = tools.filter(({ name }) =>
    splitName(name).some((word) => word.length > 3 && lowerWords.has(word)),
  );
  return similarMatches.length > 0 ? similarMatches : tools.slice(0, 1);
}

function splitName(name: string): string[] {
  return name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== 'tool');
}

function createCallSteps(request: DemoRequest, tools: readonly DemoTool[]): ToolCallStep[] {
  const hints = findHints(readPrompt(request));
  return tools.map((tool, index) => {
    // A second call of the same tool uses the next hints of the prompt; a different tool starts with the first.
    const turn = tools.slice(0, index).filter((previous) => previous === tool).length;
    const sample = createSample({ type: 'object', ...tool.schema }, hints, turn);
    return { type: 'tool_call', tool, tokens: splitIntoTokens(JSON.stringify(sample)) };
  });
}
