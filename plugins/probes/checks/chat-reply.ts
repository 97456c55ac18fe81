import { isJsonObject, type JsonObject, type JsonValue, listObjects } from '#core/platform/json.ts';
import type { TrialReply } from '../trials.ts';

export interface ReplyCall {
  readonly name: string;
  readonly arguments: string; // JSON
}

interface ChatReply {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ReplyCall[];
  readonly finish: string | undefined;
  readonly contentDeltas: number;
}

export function readChat({ body, events }: TrialReply): ChatReply {
  const messages = (body === undefined ? events : [body]).flatMap(({ choices }) => listObjects(choices).slice(0, 1));
  const parts = messages.map(({ message, delta }) => (isJsonObject(message) ? message : toObject(delta)));
  const calls = new Map<string, { name: string; arguments: string }>();
  for (const [position, call] of parts.flatMap(({ tool_calls: all }) => listObjects(all)).entries()) {
    // The deltas of a streamed call carry its index. Calls in a non-streaming reply have none.
    const index = String(call['index'] ?? `whole ${position}`);
    const functionDelta = toObject(call['function']);
    const collectedCall = calls.get(index) ?? { name: '', arguments: '' };
    calls.set(index, {
      name: collectedCall.name + toText(functionDelta['name']),
      arguments: collectedCall.arguments + toText(functionDelta['arguments']),
    });
  }
  return {
    text: parts.map(({ content }) => toText(content)).join(''),
    reasoning: parts.map((part) => toText(part['reasoning_content'] ?? part['reasoning'])).join(''),
    calls: [...calls.values()],
    finish: messages.map(({ finish_reason: reason }) => reason).findLast((reason) => typeof reason === 'string'),
    contentDeltas: parts.filter(({ content }) => toText(content) !== '').length,
  };
}

function toText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function toObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
