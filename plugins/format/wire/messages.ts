import type * as beta from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type * as anthropic from '@anthropic-ai/sdk/resources/messages/messages';
import type { Loose } from './loose.ts';

/** Members that Anthropic's SDK does not declare, and who uses them. */
interface UndeclaredMembers {
  request:
    | 'output_format' // SDKs before `output_config`
    | 'temperature' // Anthropic, and clients of its older models
    | 'top_p'
    | 'top_k';
  source: 'file_id'; // Anthropic, Files beta
  event: 'usage'; // Z.ai, in vendor-specific events
}

export type MessagesRequest = Loose<
  anthropic.MessageCreateParams | beta.MessageCreateParams,
  UndeclaredMembers['request']
>;
export type MessagesThinking = Loose<anthropic.ThinkingConfigParam>;
export type MessagesOutputConfig = Loose<anthropic.OutputConfig>;
export type MessagesOutputFormat = Loose<anthropic.JSONOutputFormat>;
export type MessagesMetadata = Loose<anthropic.Metadata>;
export type MessagesTool = Loose<anthropic.ToolUnion | beta.BetaToolUnion>;
export type MessagesToolChoice = Loose<anthropic.ToolChoice>;

export type MessagesMessage = Loose<anthropic.MessageParam | beta.BetaMessageParam>;
/** A content block in a request or reply, or an object inside one. */
export type MessagesBlock = Loose<
  | anthropic.ContentBlockParam
  | anthropic.ContentBlock
  | beta.BetaContentBlockParam
  | beta.BetaContentBlock
  | anthropic.ToolReferenceBlockParam
>;
export type MessagesSource = Loose<
  anthropic.ImageBlockParam['source'] | anthropic.DocumentBlockParam['source'],
  UndeclaredMembers['source']
>;
export type MessagesCitation = Loose<anthropic.TextCitation>;

/** A non-streaming reply or a token count. */
export type MessagesReply = Loose<anthropic.Message | beta.BetaMessage | anthropic.MessageTokensCount>;
/** The members that end a reply, in the reply itself or in its last event. */
export type MessagesEnding = Loose<anthropic.RawMessageDeltaEvent.Delta>;
export type MessagesStopDetails = Loose<anthropic.RefusalStopDetails>;
export type MessagesEvent = Loose<
  anthropic.RawMessageStreamEvent | beta.BetaRawMessageStreamEvent,
  UndeclaredMembers['event']
>;
export type MessagesDelta = Loose<anthropic.RawContentBlockDelta>;
export type MessagesUsage = Loose<anthropic.Usage>;
export type MessagesUsageDetails = Loose<anthropic.OutputTokensDetails>;
