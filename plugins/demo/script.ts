import { BadRequest, lastUserText, openToolResults, type Prompt, type Tool, type Turn } from './prompt.ts';
import { findHints, type Hints, sampleOf } from './sample.ts';
import { splitIntoTokens } from './tokens.ts';

/** What the demo says, in the order in which it says it. Every format writes the same script in its own words. */
export interface Script {
  readonly parts: readonly Part[];
  readonly finish: 'stop' | 'length' | 'tool_calls';
  readonly usage: { readonly input: number; readonly output: number; readonly reasoning: number };
}

/** `tokens` joined are the reasoning, the text, or the arguments (JSON, or plain text for a freeform tool). */
export type Part = TextPart | ToolCallPart;

interface TextPart {
  readonly type: 'reasoning' | 'text';
  readonly tokens: readonly string[];
}

export interface ToolCallPart {
  readonly type: 'tool_call';
  readonly tool: Tool;
  readonly tokens: readonly string[];
}

const maxCalls = 4;
const maxWords = 20_000;
/** Characters of a prompt in which requests and values are looked for. */
const maxLookedAt = 5_000;
/** Coding tools put their own notes into what the user says. */
const toolTags = ['system-reminder', 'environment_context'] as const;
const filler = 'This sentence only makes the answer longer, so that there is more of a stream to look at.';

/** @throws BadRequest when the tool that has to be called does not exist */
export function writeScript(prompt: Prompt): Script {
  const tools = chooseTools(prompt);
  const reasoning = prompt.wantsReasoning ?? /\b(think|reason)(ing)?\b/i.test(said(prompt));
  const parts = [
    ...(reasoning ? [say('reasoning', reasoningText(prompt, tools))] : []),
    ...(tools.length > 0 ? callTools(prompt, tools) : [say('text', answerText(prompt))]),
  ];
  const { fitting, isCut } = fit(parts, prompt.maxTokens ?? Infinity);
  const finish = isCut ? 'length' : tools.length > 0 ? 'tool_calls' : 'stop';
  return {
    parts: fitting,
    finish,
    usage: {
      input: prompt.inputTokens,
      output: count(fitting),
      reasoning: count(fitting.filter(({ type }) => type === 'reasoning')),
    },
  };
}

export function joinTokens({ tokens }: Part): string {
  return tokens.join('');
}

export function isToolCall(part: Part): part is ToolCallPart {
  return part.type === 'tool_call';
}

function say(type: 'reasoning' | 'text', text: string): Part {
  return { type, tokens: splitIntoTokens(text) };
}

function count(parts: readonly Part[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** Keeps what the limit allows. A tool call is kept whole or not at all: half a call is of no use to anybody. */
function fit(parts: readonly Part[], limit: number): { fitting: Part[]; isCut: boolean } {
  const fitting: Part[] = [];
  let left = limit;
  for (const next of parts) {
    if (next.tokens.length > left) {
      if (next.type !== 'tool_call' && left > 0) fitting.push({ ...next, tokens: next.tokens.slice(0, left) });
      return { fitting, isCut: true };
    }
    fitting.push(next);
    left -= next.tokens.length;
  }
  return { fitting, isCut: false };
}

/** What the user said last, without what tools put between the lines. */
function said(prompt: Prompt): string {
  const text = toolTags.reduce(withoutTag, lastUserText(prompt));
  return text.trim().slice(0, maxLookedAt);
}

/** Leaves out what stands between `<tag>` and `</tag>`; a tag that is not closed stays. */
function withoutTag(text: string, tag: string): string {
  const [first = '', ...rest] = text.split(`<${tag}>`);
  const close = `</${tag}>`;
  return rest.reduce((kept, part) => {
    const end = part.indexOf(close);
    return kept + (end === -1 ? part : part.slice(end + close.length));
  }, first);
}

function reasoningText(prompt: Prompt, tools: readonly Tool[]): string {
  const names = tools.map(({ name }) => name).join(' and ');
  const plan = tools.length > 0 ? `I was asked to call ${names}, so I will.` : 'I will say so and repeat the question.';
  return `The user wrote “${shorten(said(prompt), 60)}”. I am only a demo and cannot work anything out. ${plan}`;
}

function answerText(prompt: Prompt): string {
  if (prompt.schema !== undefined) return JSON.stringify(sampleOf(prompt.schema, findHints(said(prompt))));
  const results = openToolResults(prompt);
  if (results.length > 0) return `This is the demo upstream. The tools have answered. ${results.map(report).join(' ')}`;
  const question = said(prompt);
  const answer =
    `Hello! This is the demo upstream of your Daypass gateway: no model is at work here. ` +
    `You wrote: “${shorten(question, 160)}”. ` +
    `For real answers, give an upstream in gateway.yaml an API key and this model a route to it.`;
  return `${answer}${fillerText(question)}`;
}

function report({ text, tool, isError }: Turn): string {
  return `${tool ?? 'A tool'} ${isError === true ? 'failed with' : 'returned'}: “${shorten(text, 200)}”.`;
}

/** `[[words 500]]` asks for that many words more. */
function fillerText(question: string): string {
  const wanted = Math.min(Number(/\[\[\s*words\s+(\d{1,6})\s*\]\]/i.exec(question)?.[1] ?? 0), maxWords);
  const words = filler.split(' ');
  return Array.from({ length: wanted }, (_, index) => ` ${words[index % words.length]}`).join('');
}

function shorten(text: string, length: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The tools to call, each as often as it is called. None once their results are here. */
function chooseTools(prompt: Prompt): Tool[] {
  const { tools, toolChoice, allowsParallelCalls } = prompt;
  const { mode, names } = toolChoice;
  const allowed = tools.filter(({ name }) => names?.includes(name) ?? true);
  if (mode === 'required' && allowed.length === 0)
    throw new BadRequest('tool_choice demands a tool that is not in tools', 'tool_choice');
  if (mode === 'none' || openToolResults(prompt).length > 0) return [];
  const text = said(prompt);
  const named = namedTools(allowed, text);
  const chosen = named.length === 0 && mode === 'required' ? allowed.slice(0, 1) : named;
  if (!allowsParallelCalls) return chosen.slice(0, 1);
  const again = chosen.length === 1 && /\b(twice|in parallel|several times)\b/i.test(text);
  return again ? [...chosen, ...chosen] : chosen.slice(0, maxCalls);
}

/** Tools whose name stands in the text; else, when it speaks of calling a tool, those it seems to mean. */
function namedTools(tools: readonly Tool[], text: string): Tool[] {
  const words = new Set(text.match(/[\p{L}\p{N}_-]+/gu));
  const exact = tools.filter(({ name }) => words.has(name));
  if (exact.length > 0 || !/\b(call|use|run)\b[^.?!]*\btools?\b/i.test(text)) return exact;
  const lower = new Set([...words].map((word) => word.toLowerCase()));
  const meant = tools.filter(({ name }) => wordsOf(name).some((word) => word.length > 3 && lower.has(word)));
  return meant.length > 0 ? meant : tools.slice(0, 1);
}

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== 'tool');
}

function callTools(prompt: Prompt, tools: readonly Tool[]): Part[] {
  const hints = findHints(said(prompt));
  return tools.map((tool, index) => {
    // The same tool again takes the next values of the text; another one begins at the first.
    const turn = tools.slice(0, index).filter((earlier) => earlier === tool).length;
    return { type: 'tool_call', tool, tokens: splitIntoTokens(argumentsFor(tool, hints, turn)) };
  });
}

function argumentsFor({ schema }: Tool, hints: Hints, turn: number): string {
  if (schema === undefined) return hints.strings[turn] ?? 'demo';
  const value = sampleOf({ type: 'object', ...schema }, hints, turn);
  return JSON.stringify(value);
}
