import { ChatRequestError } from './chat-error.ts';
import { type DemoMessage, type DemoRequest, type DemoTool, lastUserText, openToolResults } from './chat-request.ts';
import { findHints, sampleOf } from './sample.ts';
import { splitIntoTokens } from './tokens.ts';

/** The demo's output in order. The whole answer and its stream are both written from it. */
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
/** Coding tools put their own notes into the user's message. */
const toolTags = ['system-reminder', 'environment_context'] as const;
const filler = 'This sentence only makes the answer longer, so that there is more to stream.';

/**
 * Writes the steps of the demo model's answer.
 *
 * @throws ChatRequestError if the tool choice requires a tool that is not in the request
 */
export function writeScript(request: DemoRequest): DemoScript {
  const tools = chooseTools(request);
  const reasons = request.wantsReasoning ?? /\b(think|reason)(ing)?\b/i.test(promptOf(request));
  const written = [
    ...(reasons ? [say('reasoning', reasoningText(request, tools))] : []),
    ...(tools.length > 0 ? callTools(request, tools) : [say('text', beforeStop(answerText(request), request.stops))]),
  ];
  const { steps, isTruncated } = truncate(written, request.maxTokens ?? Infinity);
  const finish = isTruncated ? 'length' : tools.length > 0 ? 'tool_calls' : 'stop';
  return {
    steps,
    finish,
    usage: {
      input: request.inputTokens,
      output: count(steps),
      reasoning: count(steps.filter(({ type }) => type === 'reasoning')),
    },
  };
}

export function joinTokens({ tokens }: ScriptStep): string {
  return tokens.join('');
}

export function isToolCall(step: ScriptStep): step is ToolCallStep {
  return step.type === 'tool_call';
}

function say(type: 'reasoning' | 'text', text: string): ScriptStep {
  return { type, tokens: splitIntoTokens(text) };
}

function beforeStop(text: string, stops: readonly string[]): string {
  const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at !== -1);
  return text.slice(0, Math.min(text.length, ...ends));
}

function count(steps: readonly ScriptStep[]): number {
  return steps.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** A tool call is kept whole or dropped: half a call is useless. */
function truncate(written: readonly ScriptStep[], limit: number): { steps: ScriptStep[]; isTruncated: boolean } {
  const steps: ScriptStep[] = [];
  let left = limit;
  for (const step of written) {
    if (step.tokens.length > left) {
      if (!isToolCall(step) && left > 0) steps.push({ ...step, tokens: step.tokens.slice(0, left) });
      return { steps, isTruncated: true };
    }
    steps.push(step);
    left -= step.tokens.length;
  }
  return { steps, isTruncated: false };
}

function promptOf(request: DemoRequest): string {
  return toolTags.reduce(removeTag, lastUserText(request)).trim().slice(0, maxSearchedLength);
}

/** Removes all text between `<tag>` and `</tag>`; an unclosed tag stays. */
function removeTag(text: string, tag: string): string {
  const [first = '', ...others] = text.split(`<${tag}>`);
  const close = `</${tag}>`;
  return others.reduce((kept, part) => {
    const end = part.indexOf(close);
    return kept + (end === -1 ? part : part.slice(end + close.length));
  }, first);
}

function reasoningText(request: DemoRequest, tools: readonly DemoTool[]): string {
  const names = tools.map(({ name }) => name).join(' and ');
  const plan = tools.length > 0 ? `I was asked to call ${names}, so I will.` : 'I will say so and repeat the question.';
  return `The user wrote “${shorten(promptOf(request), 60)}”. I am only a demo and cannot reason. ${plan}`;
}

function answerText(request: DemoRequest): string {
  const prompt = promptOf(request);
  if (request.schema !== undefined) return JSON.stringify(sampleOf(request.schema, findHints(prompt)));
  const results = openToolResults(request);
  if (results.length > 0) return `This is the demo upstream. The tools have answered. ${results.map(report).join(' ')}`;
  const followed = follow(lastUserText(request));
  if (followed !== undefined) return followed;
  const answer =
    `Hello! This is the demo upstream of your gateway: no model is involved. You wrote: “${shorten(prompt, 160)}”. ` +
    `For real answers, set an API key for an upstream in gateway.yaml and give this model a route to it.`;
  return `${answer}${fillerText(prompt)}`;
}

/** Follows instructions that need no model: to count, to find codes in a text, to describe an image. */
function follow(prompt: string): string | undefined {
  const [, from, to] = /\bnumbers from (\d{1,4}) to (\d{1,4})\b/i.exec(prompt) ?? [];
  if (from !== undefined && to !== undefined)
    return Array.from({ length: Math.max(1, Number(to) - Number(from) + 1) }, (_, index) => Number(from) + index).join(
      ' ',
    );
  const codes = [...prompt.matchAll(/\bcode is (\w{1,40})/gi)].map(([, code]) => code);
  if (codes.length > 0) return codes.join(', ');
  return /\[picture of ([^\]]+)\]/.exec(prompt)?.[1];
}

function report({ text, tool }: DemoMessage): string {
  return `${tool ?? 'A tool'} returned: “${shorten(text, 200)}”.`;
}

/** `[[words 500]]` makes the answer that many words longer. */
function fillerText(prompt: string): string {
  const wanted = Math.min(Number(/\[\[\s*words\s+(\d{1,6})\s*\]\]/i.exec(prompt)?.[1] ?? 0), maxWords);
  const words = filler.split(' ');
  return Array.from({ length: wanted }, (_, index) => ` ${words[index % words.length]}`).join('');
}

function shorten(text: string, length: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The tools to call, repeated as often as they are called. Empty once their results are present. */
function chooseTools(request: DemoRequest): DemoTool[] {
  const { tools, toolMode, allowedTools, allowsParallelCalls } = request;
  const allowed = tools.filter(({ name }) => allowedTools?.includes(name) ?? true);
  if (toolMode === 'required' && allowed.length === 0)
    throw new ChatRequestError('`tool_choice` requires a tool that is not in `tools`.', 'tool_choice');
  if (toolMode === 'none' || openToolResults(request).length > 0) return [];
  const prompt = promptOf(request);
  const named = findNamedTools(allowed, prompt);
  const chosen = named.length === 0 && toolMode === 'required' ? allowed.slice(0, 1) : named;
  if (!allowsParallelCalls) return chosen.slice(0, 1);
  const isRepeated = chosen.length === 1 && /\b(twice|in parallel|several times)\b/i.test(prompt);
  return isRepeated ? [...chosen, ...chosen] : chosen.slice(0, maxCalls);
}

/** The tools that the prompt names or, if it speaks of calling a tool, those with similar names. */
function findNamedTools(tools: readonly DemoTool[], prompt: string): DemoTool[] {
  const words = new Set(prompt.match(/[\p{L}\p{N}_-]+/gu));
  const exact = tools.filter(({ name }) => words.has(name));
  if (exact.length > 0 || !/\b(call|use|run)\b[^.?!]*\btools?\b/i.test(prompt)) return exact;
  const lower = new Set([...words].map((word) => word.toLowerCase()));
  const similar = tools.filter(({ name }) => wordsOf(name).some((word) => word.length > 3 && lower.has(word)));
  return similar.length > 0 ? similar : tools.slice(0, 1);
}

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== 'tool');
}

function callTools(request: DemoRequest, tools: readonly DemoTool[]): ToolCallStep[] {
  const hints = findHints(promptOf(request));
  return tools.map((tool, index) => {
    // A second call of the same tool takes the next values of the prompt; another tool begins at the first.
    const turn = tools.slice(0, index).filter((earlier) => earlier === tool).length;
    const sample = sampleOf({ type: 'object', ...tool.schema }, hints, turn);
    return { type: 'tool_call', tool, tokens: splitIntoTokens(JSON.stringify(sample)) };
  });
}
