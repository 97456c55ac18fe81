import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ChatReply, ChatFilterResults } from '../../../wire/chat.ts';
import { asList, readMember } from '../../../wire/members.ts';

/**
 * Returns true if Azure's content filter rejected the prompt. Azure then sends a reply or chunk with status 200 and no choice. Source:
 * Azure OpenAI docs, "Content filtering", `prompt_filter_results`.
 */
export function isPromptRefused({
  choices,
  prompt_filter_results: results,
  prompt_annotations: annotations,
}: ChatReply): boolean {
  if (results === undefined && annotations === undefined) return false;
  if (asList(choices).length > 0) return false;
  return [...asList(results), ...asList(annotations)].some(isRefused);
}

function isRefused(result: JsonValue): boolean {
  const filters = readMember<ChatFilterResults>(result, 'content_filter_results');
  return isJsonObject(filters) && Object.values(filters).some((filter) => readMember(filter, 'filtered') === true);
}

/** Adds a choice that ends with `content_filter` if the prompt was rejected. Returns any other reply or chunk unchanged. */
export function addRefusedChoice(reply: ChatReply, place: 'message' | 'delta'): ChatReply {
  if (!isPromptRefused(reply)) return reply;
  const message = { role: 'assistant', content: '', ...(place === 'message' && { refusal: null }) };
  return { ...reply, choices: [{ index: 0, [place]: message, finish_reason: 'content_filter', logprobs: null }] };
}
