import type * as openai from 'openai/resources/responses/responses';
import type * as shared from 'openai/resources/shared';
import type { Loose } from './loose.ts';

/** Members that OpenAI's SDK does not declare, and who uses them. */
interface UndeclaredMembers {
  request:
    | 'client_metadata' // Codex
    | 'presence_penalty' // Open Responses
    | 'frequency_penalty'; // Open Responses
  item: 'namespace'; // Codex
  part: 'input_audio'; // as in Chat
  choice: 'namespace' | 'tools' | 'mode'; // Codex
  tool: 'tools' | 'execution'; // Codex
  reply:
    | 'presence_penalty' // Open Responses
    | 'frequency_penalty' // Open Responses
    | 'store'; // Open Responses
}

export type ResponsesRequest = Loose<openai.ResponseCreateParams, UndeclaredMembers['request']>;
export type ResponsesReasoningOptions = Loose<shared.Reasoning>;
export type ResponsesTextOptions = Loose<openai.ResponseTextConfig>;
export type ResponsesFormat = Loose<openai.ResponseFormatTextConfig>;
export type ResponsesTool = Loose<openai.Tool, UndeclaredMembers['tool']>;
export type ResponsesToolChoice = Loose<
  openai.ToolChoiceAllowed | openai.ToolChoiceCustom | openai.ToolChoiceFunction,
  UndeclaredMembers['choice']
>;

/** An input or output item. */
export type ResponsesItem = Loose<
  openai.ResponseInputItem | openai.EasyInputMessage | openai.ResponseOutputItem | openai.ResponseReasoningItem,
  UndeclaredMembers['item']
>;
/** A part of an item's content or summary. */
export type ResponsesPart = Loose<
  | openai.ResponseContent
  | openai.ResponseInputContent
  | openai.ResponseReasoningItem.Summary
  | openai.ResponseReasoningItem.Content,
  UndeclaredMembers['part']
>;
export type ResponsesAnnotation = Loose<openai.ResponseOutputText['annotations'][number]>;

export type ResponsesReply = Loose<openai.Response, UndeclaredMembers['reply']>;
export type ResponsesTransformation = Loose<openai.Response.InputTransformation>;
export type ResponsesIncompleteDetails = Loose<openai.Response.IncompleteDetails>;
export type ResponsesEvent = Loose<openai.ResponseStreamEvent>;
export type ResponsesUsage = Loose<openai.ResponseUsage>;
export type ResponsesUsageDetails = Loose<
  openai.ResponseUsage.InputTokensDetails | openai.ResponseUsage.OutputTokensDetails
>;
