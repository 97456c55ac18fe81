import { count, member } from '../request/members.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/**
 * Ids of the calls in a history whose reasoning the client has not returned. Most coding tools return only `content` and
 * `tool_calls`.
 *
 * @param needsState the text of the reasoning is not enough
 */
export function callsWithoutReasoning({ messages }: JsonObject, needsState: boolean): string[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message) => {
    if (!isJsonObject(message) || !Array.isArray(message['tool_calls'])) return [];
    const text = message['reasoning_content'];
    const hasText = typeof text === 'string' && text !== '';
    if (hasState(message, hasText) || (!needsState && hasText)) return [];
    return message['tool_calls'].flatMap(idOf);
  });
}

/** True for a state with its text: SDKs drop one of the two, and most vendors refuse a state without its text. */
function hasState({ reasoning_details: details }: JsonObject, hasText: boolean): boolean {
  if (!Array.isArray(details) || details.length === 0) return false;
  return hasText || details.every((entry) => (count(member(entry, 'text_length')) ?? 0) === 0);
}

function idOf(call: JsonValue): string[] {
  return isJsonObject(call) && typeof call['id'] === 'string' ? [call['id']] : [];
}
