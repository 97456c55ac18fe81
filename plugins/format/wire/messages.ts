import type {
  BetaContentBlock,
  BetaContentBlockParam,
  BetaMessage,
  BetaMessageParam,
  BetaRawMessageStreamEvent,
  BetaToolUnion,
  MessageCreateParams as BetaMessageCreateParams,
} from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type {
  ContentBlock,
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  JSONOutputFormat,
  Message,
  MessageCreateParams,
  MessageParam,
  MessageTokensCount,
  Metadata,
  OutputConfig,
  OutputTokensDetails,
  RawContentBlockDelta,
  RawMessageDeltaEvent,
  RawMessageStreamEvent,
  RefusalStopDetails,
  TextCitation,
  ThinkingConfigParam,
  ToolChoice,
  ToolReferenceBlockParam,
  ToolUnion,
  Usage,
} from '@anthropic-ai/sdk/resources/messages/messages';
import type { Loose } from './loose.ts';

/** Members of the format that Anthropic's SDK does not declare, with those who send them. */
interface Undeclared {
  request:
    | 'output_format' // SDKs before `output_config`
    | 'temperature' // Anthropic, and clients of its older models
    | 'top_p'
    | 'top_k';
  source: 'file_id'; // Anthropic, beta of files
  event: 'usage'; // Z.ai, in events of its own
}

export type MessagesRequest = Loose<MessageCreateParams | BetaMessageCreateParams, Undeclared['request']>;
export type MessagesThinking = Loose<ThinkingConfigParam>;
export type MessagesOutputConfig = Loose<OutputConfig>;
export type MessagesOutputFormat = Loose<JSONOutputFormat>;
export type MessagesMetadata = Loose<Metadata>;
export type MessagesTool = Loose<ToolUnion | BetaToolUnion>;
export type MessagesToolChoice = Loose<ToolChoice>;

export type MessagesMessage = Loose<MessageParam | BetaMessageParam>;
/** A block of content in a request or a reply, or what such a block holds. */
export type MessagesBlock = Loose<
  ContentBlockParam | ContentBlock | BetaContentBlockParam | BetaContentBlock | ToolReferenceBlockParam
>;
export type MessagesSource = Loose<ImageBlockParam['source'] | DocumentBlockParam['source'], Undeclared['source']>;
export type MessagesCitation = Loose<TextCitation>;

/** A whole reply; a count of tokens is one, too. */
export type MessagesReply = Loose<Message | BetaMessage | MessageTokensCount>;
/** How a reply ends: in the reply itself, or in the event about its end. */
export type MessagesEnding = Loose<RawMessageDeltaEvent.Delta>;
export type MessagesStopDetails = Loose<RefusalStopDetails>;
export type MessagesEvent = Loose<RawMessageStreamEvent | BetaRawMessageStreamEvent, Undeclared['event']>;
export type MessagesDelta = Loose<RawContentBlockDelta>;
export type MessagesUsage = Loose<Usage>;
export type MessagesUsageDetails = Loose<OutputTokensDetails>;
