import type {
  EasyInputMessage,
  Response,
  ResponseContent,
  ResponseCreateParams,
  ResponseFormatTextConfig,
  ResponseInputContent,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseOutputText,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseTextConfig,
  ResponseUsage,
  Tool,
  ToolChoiceAllowed,
  ToolChoiceCustom,
  ToolChoiceFunction,
} from 'openai/resources/responses/responses';
import type { Reasoning } from 'openai/resources/shared';
import type { Loose } from './loose.ts';

/** Members of the format that OpenAI's SDK does not declare, with those who send them. */
interface Undeclared {
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

export type ResponsesRequest = Loose<ResponseCreateParams, Undeclared['request']>;
export type ResponsesReasoningOptions = Loose<Reasoning>;
export type ResponsesTextOptions = Loose<ResponseTextConfig>;
export type ResponsesFormat = Loose<ResponseFormatTextConfig>;
export type ResponsesTool = Loose<Tool, Undeclared['tool']>;
export type ResponsesToolChoice = Loose<
  ToolChoiceAllowed | ToolChoiceCustom | ToolChoiceFunction,
  Undeclared['choice']
>;

/** An item of the input or the output. */
export type ResponsesItem = Loose<
  ResponseInputItem | EasyInputMessage | ResponseOutputItem | ResponseReasoningItem,
  Undeclared['item']
>;
/** A part of an item's content or summary. */
export type ResponsesPart = Loose<
  ResponseContent | ResponseInputContent | ResponseReasoningItem.Summary | ResponseReasoningItem.Content,
  Undeclared['part']
>;
export type ResponsesAnnotation = Loose<ResponseOutputText['annotations'][number]>;

export type ResponsesReply = Loose<Response, Undeclared['reply']>;
export type ResponsesIncompleteDetails = Loose<Response.IncompleteDetails>;
export type ResponsesEvent = Loose<ResponseStreamEvent>;
export type ResponsesUsage = Loose<ResponseUsage>;
export type ResponsesUsageDetails = Loose<ResponseUsage.InputTokensDetails | ResponseUsage.OutputTokensDetails>;
