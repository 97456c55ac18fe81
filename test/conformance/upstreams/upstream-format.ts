import type { JsonObject } from '#core/json.ts';
import type { Answer, Ask, Failure } from '../talk.ts';

/** An upstream of one format: how it understands a request, and the ways it can answer. */
export interface UpstreamFormat {
  /** Where it is asked, behind its base URL. */
  path(model: string, isStream: boolean): string;
  /** Media type of a stream; that of server-sent events when left out. */
  readonly streamType?: string;
  /** What it takes: anything else is refused by the vendor, or silently lost. */
  readonly schema: object;
  /** What it has understood. @throws Error when the request breaks a rule that no schema can say */
  hear(body: JsonObject): Ask;
  whole(answer: Answer, model: string): JsonObject;
  /** Events of a stream, as they stand on the wire. */
  stream(answer: Answer, model: string): string;
  readonly failures: Readonly<Record<Failure, { readonly status: number; readonly body: JsonObject }>>;
}

/** A text in pieces, as models say it. */
export function piecesOf(text: string): string[] {
  return text.match(/.{1,7}/gsu) ?? [];
}

/** Takes one piece of each list in turn: calls that come side by side. */
export function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}

/** Events without names, as Chat and Gemini write them. */
export function unnamed(events: readonly JsonObject[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

/** Events that carry their type as name too. */
export function named(events: readonly JsonObject[]): string {
  return events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** The ids of calls that an answer's results have to be of, each once and at once. @throws Error */
export function checkAnswered(calls: readonly string[], results: readonly string[], where: string): void {
  const missing = calls.filter((id) => !results.includes(id));
  const foreign = results.filter((id) => !calls.includes(id));
  if (missing.length + foreign.length > 0 || calls.length !== results.length) {
    throw new Error(`${where}: calls ${calls.join(', ')} have results ${results.join(', ')}`);
  }
}
