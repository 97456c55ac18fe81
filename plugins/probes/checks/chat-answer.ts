import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { TrialReply } from '../trials.ts';

export interface MadeCall {
  readonly name: string;
  readonly arguments: string; // JSON
}

/** The content of a Chat reply, streamed or not. */
interface ReadAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly MadeCall[];
  readonly finish: string | undefined;
  /** Number of streamed events that contain text. */
  readonly deltas: number;
}

export function readChat({ body, events }: TrialReply): ReadAnswer {
  const messages = (body === undefined ? events : [body]).flatMap(({ choices }) => list(choices).slice(0, 1));
  const parts = messages.map(({ message, delta }) => (isJsonObject(message) ? message : object(delta)));
  const calls = new Map<string, { name: string; arguments: string }>();
  for (const [position, call] of parts.flatMap(({ tool_calls: all }) => list(all)).entries()) {
    // Deltas of a streamed call carry its index. Calls in a non-streaming reply have none.
    const index = String(call['index'] ?? `whole ${position}`);
    const piece = object(call['function']);
    const earlier = calls.get(index) ?? { name: '', arguments: '' };
    calls.set(index, {
      name: earlier.name + text(piece['name']),
      arguments: earlier.arguments + text(piece['arguments']),
    });
  }
  return {
    text: parts.map(({ content }) => text(content)).join(''),
    reasoning: parts.map((part) => text(part['reasoning_content'] ?? part['reasoning'])).join(''),
    calls: [...calls.values()],
    finish: messages.map(({ finish_reason: reason }) => reason).findLast((reason) => typeof reason === 'string'),
    deltas: parts.filter(({ content }) => text(content) !== '').length,
  };
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function object(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
