import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ChatReply, ChatFilterResults } from '../../../wire/chat.ts';
import { asList, member } from '../../../wire/members.ts';

/**
 * True for a reply or a chunk of Azure without a choice in which its filter has refused the prompt, with status 200. Source:
 * Azure OpenAI docs, "Content filtering", `prompt_filter_results`.
 */
export function isPromptRefused({
  choices,
  prompt_filter_results: results,
  prompt_annotations: older,
}: ChatReply): boolean {
  if (results === undefined && older === undefined) return false;
  if (asList(choices).length > 0) return false;
  return [...asList(results), ...asList(older)].some(isRefused);
}

function isRefused(result: JsonValue): boolean {
  const filters = member<ChatFilterResults>(result, 'content_filter_results');
  return isJsonObject(filters) && Object.values(filters).some((filter) => member(filter, 'filtered') === true);
}

/** A reply or a chunk whose prompt was refused, as an answer that the vendor has withheld; any other is the same object. */
export function answerRefusedPrompt(reply: ChatReply, place: 'message' | 'delta'): ChatReply {
  if (!isPromptRefused(reply)) return reply;
  const said = { role: 'assistant', content: '', ...(place === 'message' && { refusal: null }) };
  return { ...reply, choices: [{ index: 0, [place]: said, finish_reason: 'content_filter', logprobs: null }] };
}
