import { deepStrictEqual } from 'node:assert/strict';
import type { JsonObject } from '#core/platform/json.ts';
import type { UpstreamTextFormat } from '../support/formats.ts';
import type { ClientFormat } from './clients/client-format.ts';
import type { Turn } from './features.ts';
import type { Heard, Loss } from './losses.ts';
import { type Answer, type Ask, compact, type Entry, type Seen, type Spoken, type Tool } from './talk.ts';

/** Formats with an error flag on tool results. */
const flagged: ReadonlySet<UpstreamTextFormat> = new Set(['messages', 'gemini']);

/** The request of a turn as the upstream must receive it without losses. */
export function idealHeard(
  turn: Turn,
  turns: readonly Turn[],
  client: ClientFormat,
  upstream: UpstreamTextFormat,
): Heard {
  const said = turn.ask.said.flatMap((entry) => spoken(entry, turns, client.echoLosesThoughts && upstream === 'chat'));
  return normalized(
    {
      ...turn.ask,
      said: said.map((entry) => (client.hasErrorFlag || !flagged.has(upstream) ? entry : failureInWords(entry))),
      // Without stop sequences in the upstream's format, the gateway truncates the answer itself.
      stop: upstream === 'responses' ? undefined : turn.ask.stop,
      isSerial: client.hasSerialCalls ? turn.ask.isSerial : undefined,
    },
    turn,
    upstream,
  );
}

/** The comparable part of the received request. */
export function comparableHeard(heard: Ask, turn: Turn, upstream: UpstreamTextFormat): Heard {
  const { limit, ...rest } = heard;
  return normalized({ ...rest, ...(turn.ask.limit !== undefined && { limit }) }, turn, upstream);
}

function normalized(ask: Ask, turn: Turn, upstream: UpstreamTextFormat): Heard {
  const said = ask.said.filter((entry): entry is Spoken => entry.type !== 'echo');
  const isElsewhere = turn.elsewhere !== undefined;
  // Another upstream cannot use the reasoning; that no signature reaches it is checked separately.
  const kept = isElsewhere ? said.filter(({ type }) => type !== 'thought') : said;
  return compact({
    ...ask,
    // The rules of its format decide whether it can continue reasoning without them.
    effort: isElsewhere ? undefined : ask.effort,
    said: kept.map((entry) => (entry.type === 'thought' ? comparableThought(entry, upstream) : entry)),
    tools: ask.tools?.map(comparableTool),
  }) as unknown as Heard;
}

/** Gemini requires only signatures; Chat and Ollama have none. */
function comparableThought(entry: Extract<Spoken, { type: 'thought' }>, upstream: UpstreamTextFormat): Spoken {
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
function spoken(entry: Entry, turns: readonly Turn[], isForgotten: boolean): Spoken[] {
  if (entry.type !== 'echo') return [entry];
  const answer = turns[entry.turn]?.answer;
  if (answer === undefined || typeof answer === 'string') throw new Error('only an answer can be repeated');
  // Without signatures, nothing must return.
  const kept = answer.blocks.filter(({ type }) => type !== 'thought' || !isForgotten || entry.forgets !== true);
  return kept.map((block) =>
    block.type === 'text' || block.type === 'refusal' ? { type: 'text', by: 'model', text: block.text } : block,
  );
}

function failureInWords(entry: Spoken): Spoken {
  if (entry.type !== 'result' || entry.isError !== true) return entry;
  const { isError: _, ...result } = entry;
  return { ...result, text: `Error: ${entry.text}` };
}

/** An answer as the client must receive it without losses. */
export function idealSeen(answer: Answer, client: ClientFormat): Seen {
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
export function isLossy<T>(seen: T, ideal: T, lossy: T): boolean {
  try {
    deepStrictEqual(seen, ideal);
    return false;
  } catch {
    deepStrictEqual(seen, lossy);
    return true;
  }
}

export function afterLosses(losses: readonly Loss[], heard: Heard, turn: number, upstream: UpstreamTextFormat): Heard {
  return compact(losses.reduce((so, loss) => loss.hears?.(so, turn, upstream) ?? so, heard)) as unknown as Heard;
}

export function seenAfterLosses(losses: readonly Loss[], seen: Seen): Seen {
  return losses.reduce((so, loss) => loss.sees?.(so) ?? so, seen);
}

/** Checks members that an error must have. @throws AssertionError */
export function expectMembers(value: unknown, members: JsonObject): void {
  const found = value as JsonObject;
  for (const [name, wanted] of Object.entries(members)) {
    if (typeof wanted === 'object' && wanted !== null) expectMembers(found[name] ?? {}, wanted as JsonObject);
    else deepStrictEqual({ [name]: found[name] }, { [name]: wanted });
  }
}
