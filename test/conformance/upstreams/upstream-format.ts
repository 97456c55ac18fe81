import type { JsonObject } from '#core/platform/json.ts';
import type { Answer, Ask, Failure } from '../conversation.ts';

/** An upstream of one format: how it reads requests and writes answers. */
export interface UpstreamFormat {
  /** Path after the base URL. */
  path(model: string, isStream: boolean): string;
  /** Media type of a stream; by default that of server-sent events. */
  readonly streamType?: string;
  /** Schema of accepted requests: the vendor refuses or silently ignores anything else. */
  readonly schema: object;
  /** Reads a request. @throws Error when it violates a rule that no schema expresses */
  read(body: JsonObject): Ask;
  whole(answer: Answer, model: string): JsonObject;
  /** Events of a stream. */
  events(answer: Answer, model: string): JsonObject[];
  /** Events on the wire. */
  frame(events: readonly JsonObject[]): string;
  readonly failures: Readonly<Record<Failure, { readonly status: number; readonly body: JsonObject }>>;
}

/** A text in pieces, as models stream it. */
export function piecesOf(text: string): string[] {
  return text.match(/.{1,7}/gsu) ?? [];
}

/** Takes one piece of each list in turn, for interleaved calls. */
export function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}

/** Events without names, as Chat and Gemini write them. */
export function unnamed(events: readonly JsonObject[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

/** Events with their type as name. */
export function named(events: readonly JsonObject[]): string {
  return events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** The calls whose results must follow, each once. @throws Error */
export function checkAnswered(calls: readonly string[], results: readonly string[], where: string): void {
  const missing = calls.filter((id) => !results.includes(id));
  const foreign = results.filter((id) => !calls.includes(id));
  if (missing.length + foreign.length > 0 || calls.length !== results.length) {
    throw new Error(`${where}: calls ${calls.join(', ')} have results ${results.join(', ')}`);
  }
}
