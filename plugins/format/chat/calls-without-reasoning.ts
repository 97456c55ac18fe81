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
    const { reasoning_details: details, reasoning_content: text } = message;
    const isReturned = Array.isArray(details) && details.length > 0;
    if (isReturned || (!needsState && typeof text === 'string' && text !== '')) return [];
    return message['tool_calls'].flatMap(idOf);
  });
}

function idOf(call: JsonValue): string[] {
  return isJsonObject(call) && typeof call['id'] === 'string' ? [call['id']] : [];
}
