import { deepStrictEqual } from 'node:assert/strict';
import type { JsonObject } from '#core/platform/json.ts';
import type { UpstreamTextFormat } from '../support/formats.ts';
import type { ClientFormat } from './clients/client-format.ts';
import {
  type Answer,
  type Ask,
  compact,
  type Entry,
  type ClientAnswer,
  type PlainEntry,
  type Tool,
} from './conversation.ts';
import type { Turn } from './features.ts';
import type { UpstreamAsk, Loss } from './losses.ts';

/** Formats with an error flag on tool results. */
const flagged: ReadonlySet<UpstreamTextFormat> = new Set(['messages', 'gemini']);

/** The request of a turn as the upstream must receive it without losses. */
export function idealRequest(
  turn: Turn,
  turns: readonly Turn[],
  client: ClientFormat,
  upstream: UpstreamTextFormat,
): UpstreamAsk {
  const entries = turn.ask.entries.flatMap((entry) =>
    plainEntries(entry, turns, client.echoLosesThoughts && upstream === 'chat'),
  );
  return normalized(
    {
      ...turn.ask,
      entries: entries.map((entry) => (client.hasErrorFlag || !flagged.has(upstream) ? entry : failureInWords(entry))),
      // Without stop sequences in the upstream's format, the gateway truncates the answer itself.
      stop: upstream === 'responses' ? undefined : turn.ask.stop,
      isSerial: client.hasSerialCalls ? turn.ask.isSerial : undefined,
    },
    turn,
    upstream,
  );
}

/** The comparable part of the received request. */
export function comparableRequest(received: Ask, turn: Turn, upstream: UpstreamTextFormat): UpstreamAsk {
  const { limit, ...rest } = received;
  return normalized({ ...rest, ...(turn.ask.limit !== undefined && { limit }) }, turn, upstream);
}

function normalized(ask: Ask, turn: Turn, upstream: UpstreamTextFormat): UpstreamAsk {
  const plain = ask.entries.filter((entry): entry is PlainEntry => entry.type !== 'echo');
  const isElsewhere = turn.elsewhere !== undefined;
  // Another upstream cannot use the reasoning; that no signature reaches it is checked separately.
  const kept = isElsewhere ? plain.filter(({ type }) => type !== 'thought') : plain;
  return compact({
    ...ask,
    // The rules of its format decide whether it can continue reasoning without them.
    effort: isElsewhere ? undefined : ask.effort,
    entries: kept.map((entry) => (entry.type === 'thought' ? comparableThought(entry, upstream) : entry)),
    tools: ask.tools?.map(comparableTool),
  }) as unknown as UpstreamAsk;
}

/** Gemini requires only signatures; Chat and Ollama have none. */
function comparableThought(entry: Extract<PlainEntry, { type: 'thought' }>, upstream: UpstreamTextFormat): PlainEntry {
  if (upstream === 'gemini') return { ...entry, text: '' };
  return upstream === 'chat' || upstream === 'ollama' ? { ...entry, signature: undefined } : entry;
}

/** A tool without arguments may have a schema that allows none. */
function comparableTool(tool: Tool): Tool {
  const properties = tool.schema?.['properties'];
  const isEmpty = typeof properties === 'object' && properties !== null && Object.keys(properties).length === 0;
  return isEmpty ? { ...tool, schema: undefined } : tool;
}

/** An answer as the same upstream must receive it in the next request. */
function plainEntries(entry: Entry, turns: readonly Turn[], isForgotten: boolean): PlainEntry[] {
  if (entry.type !== 'echo') return [entry];
  const answer = turns[entry.turn]?.answer;
  if (answer === undefined || typeof answer === 'string') throw new Error('only an answer can be repeated');
  // Without signatures, nothing must return.
  const kept = answer.blocks.filter(({ type }) => type !== 'thought' || !isForgotten || entry.forgets !== true);
  return kept.map((block) =>
    block.type === 'text' || block.type === 'refusal' ? { type: 'text', by: 'model', text: block.text } : block,
  );
}

function failureInWords(entry: PlainEntry): PlainEntry {
  if (entry.type !== 'result' || entry.isError !== true) return entry;
  const { isError: _, ...result } = entry;
  return { ...result, text: `Error: ${entry.text}` };
}

/** An answer as the client must receive it without losses. */
export function idealAnswer(answer: Answer, client: ClientFormat): ClientAnswer {
  const isUntold = answer.end === 'stop_sequence' && !client.tellsStop;
  return {
    text: answer.blocks.map((block) => (block.type === 'text' || block.type === 'refusal' ? block.text : '')).join(''),
    thought: answer.blocks.map((block) => (block.type === 'thought' ? block.text : '')).join(''),
    calls: answer.blocks.filter((block) => block.type === 'call'),
    end: isUntold ? 'stop' : answer.end,
    stopSequence: isUntold ? undefined : answer.stopSequence,
    usage: answer.usage,
  };
}

/**
 * True when the actual value is the one with losses.
 *
 * @throws AssertionError when it is neither that nor the lossless one
 */
export function isLossy<T>(received: T, ideal: T, lossy: T): boolean {
  try {
    deepStrictEqual(received, ideal);
    return false;
  } catch {
    deepStrictEqual(received, lossy);
    return true;
  }
}

export function requestAfterLosses(
  losses: readonly Loss[],
  received: UpstreamAsk,
  turn: number,
  upstream: UpstreamTextFormat,
): UpstreamAsk {
  return compact(
    losses.reduce((so, loss) => loss.atUpstream?.(so, turn, upstream) ?? so, received),
  ) as unknown as UpstreamAsk;
}

export function answerAfterLosses(losses: readonly Loss[], received: ClientAnswer): ClientAnswer {
  return losses.reduce((so, loss) => loss.atClient?.(so) ?? so, received);
}

/** Checks members that an error must have. @throws AssertionError */
export function expectMembers(value: unknown, members: JsonObject): void {
  const found = value as JsonObject;
  for (const [name, wanted] of Object.entries(members)) {
    if (typeof wanted === 'object' && wanted !== null) expectMembers(found[name] ?? {}, wanted as JsonObject);
    else deepStrictEqual({ [name]: found[name] }, { [name]: wanted });
  }
}
