import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { objectOf, objectsOf, textOf } from '../conformance/conversation.ts';
import type { UpstreamTextFormat } from '../support/formats.ts';

/** A piece of a prompt in the order in which vendors read it: tools, instructions, dialogue. */
export interface Segment {
  /** JSON without marks of caches. */
  readonly text: string;
  /** Ends a prefix that the client wants cached. */
  readonly isMarked: boolean;
  /** Last piece of a message. */
  readonly endsMessage: boolean;
}

/** A request as a vendor's cache sees it. */
export interface Prompt {
  readonly segments: readonly Segment[];
  /** The other members, which stay the same from turn to turn, as JSON. */
  readonly others: string;
}

const marks: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint']);
const dialogues: ReadonlySet<string> = new Set(['messages', 'input', 'contents']);
const instructions: ReadonlySet<string> = new Set(['system', 'instructions', 'systemInstruction']);
/** Each turn may be streamed or not. */
const ofTurns: ReadonlySet<string> = new Set(['stream', 'stream_options']);

export function readPrompt(body: JsonObject): Prompt {
  const segments = [
    ...objectsOf(body['tools']).map((tool) => segmentOf(tool, false)),
    ...Object.keys(body)
      .filter((name) => instructions.has(name))
      .flatMap((name) => readInstructions(body[name] as JsonValue)),
    ...Object.keys(body)
      .filter((name) => dialogues.has(name))
      .flatMap((name) => objectsOf(body[name]).flatMap(readMessage)),
  ];
  const last = segments.at(-1);
  // Anthropic's automatic caching: a breakpoint at the end.
  if (last !== undefined && body['cache_control'] !== undefined)
    segments.splice(-1, 1, { ...last, isMarked: true, endsMessage: true });
  const named = new Set(['tools', 'cache_control', ...instructions, ...dialogues, ...ofTurns]);
  const others = Object.fromEntries(Object.entries(body).filter(([name]) => !named.has(name)));
  return { segments, others: JSON.stringify(others) };
}

function readInstructions(value: JsonValue): Segment[] {
  if (Array.isArray(value)) return objectsOf(value).map((block) => segmentOf(block, false));
  return [{ text: JSON.stringify(value), isMarked: false, endsMessage: false }];
}

/** One segment for each block: Anthropic looks back by blocks. */
function readMessage(message: JsonObject): Segment[] {
  const member = 'parts' in message ? 'parts' : 'content';
  const { [member]: content, ...holder } = message;
  if (!Array.isArray(content) || content.length === 0) return [segmentOf(message, true)];
  return objectsOf(content).map((block, index) => {
    const { text, isMarked } = segmentOf(block, false);
    return { text: JSON.stringify(holder) + text, isMarked, endsMessage: index === content.length - 1 };
  });
}

function segmentOf(value: JsonObject, endsMessage: boolean): Segment {
  const text = JSON.stringify(value, (name, inner: unknown) => (marks.has(name) ? undefined : inner));
  return { text, isMarked: [...marks].some((name) => value[name] !== undefined), endsMessage };
}

/** Tokens of a text, by the rule of thumb. */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / 4);
}

/** The first difference of a prompt from the beginning of the next one; undefined where the next one begins with all of it. */
export function firstChange(before: Prompt, next: Prompt): string | undefined {
  if (before.others !== next.others) return `other members: ${differenceOf(before.others, next.others)}`;
  for (const [index, { text }] of before.segments.entries()) {
    const now = next.segments[index]?.text ?? 'nothing';
    if (now !== text) return `segment ${index} of ${before.segments.length}: ${differenceOf(text, now)}`;
  }
  return undefined;
}

function differenceOf(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const from = Math.max(0, at - 60);
  return `…${one.slice(from, at + 60)}… became …${other.slice(from, at + 60)}…`;
}

/** The conversation that a request belongs to: each begins with a word of its own. */
export function conversationOf(prompt: Prompt): string {
  return /conversation-\d+/.exec(prompt.segments.map(({ text }) => text).join(''))?.[0] ?? '';
}

/** The name under which OpenAI's formats group prompts; part of the route to a cache. */
export function cacheKeyOf(format: UpstreamTextFormat, body: JsonObject): string {
  return format === 'chat' || format === 'responses' ? textOf(objectOf(body)['prompt_cache_key']) : '';
}
