import type {
  ChatCompletion,
  ChatCompletionAllowedToolChoice,
  ChatCompletionAllowedTools,
  ChatCompletionChunk,
  ChatCompletionContentPart,
  ChatCompletionContentPartImage,
  ChatCompletionContentPartInputAudio,
  ChatCompletionContentPartRefusal,
  ChatCompletionCreateParams,
  ChatCompletionCustomTool,
  ChatCompletionMessage,
  ChatCompletionMessageCustomToolCall,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionNamedToolChoice,
  ChatCompletionNamedToolChoiceCustom,
  ChatCompletionStreamOptions,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import type { CompletionUsage } from 'openai/resources/completions';
import type { FunctionDefinition, ResponseFormatJSONSchema } from 'openai/resources/shared';
import type { Loose } from './loose.ts';

/** Members of the format that OpenAI's SDK does not declare, with those who send them. */
interface Undeclared {
  request:
    | 'top_k' // OpenRouter, vLLM
    | 'random_seed' // Mistral
    | 'reasoning' // OpenRouter
    | 'thinking' // DeepSeek, Moonshot, Z.ai
    | 'enable_thinking' // DashScope
    | 'thinking_budget'; // DashScope
  /** What `reasoning` and `thinking` hold. */
  reasoning: 'type' | 'budget_tokens' | 'effort' | 'enabled' | 'exclude' | 'max_tokens';
  message:
    | 'reasoning_content' // DeepSeek
    | 'reasoning' // OpenRouter
    | 'reasoning_details'; // OpenRouter, MiniMax, this gateway
  reasoningDetail: 'type' | 'index' | 'text' | 'summary' | 'data' | 'text_length';
  part: 'thinking'; // Mistral
  citation: 'content'; // OpenRouter
  reply:
    | 'x_groq' // Groq, with the usage
    | 'error'; // OpenRouter and others, in the place of an answer
  choice:
    | 'stop_reason' // vLLM
    | 'usage' // Moonshot
    | 'error'; // OpenRouter
  usage:
    | 'prompt_cache_hit_tokens' // DeepSeek
    | 'cached_tokens' // Moonshot
    | 'num_cached_tokens'; // Mistral
  usageDetails: 'cache_creation_input_tokens'; // DashScope
}

export type ChatRequest = Loose<ChatCompletionCreateParams, Undeclared['request']>;
export type ChatStreamOptions = Loose<ChatCompletionStreamOptions>;
export type ChatReasoningOptions = Loose<never, Undeclared['reasoning']>;
export type ChatResponseFormat = Loose<ResponseFormatJSONSchema>;

/** A message of a request or a reply, or a delta of one. */
export type ChatMessage = Loose<
  ChatCompletionMessageParam | ChatCompletionMessage | ChatCompletionChunk.Choice.Delta,
  Undeclared['message']
>;
export type ChatPart = Loose<ChatCompletionContentPart | ChatCompletionContentPartRefusal, Undeclared['part']>;
export type ChatImage = Loose<ChatCompletionContentPartImage.ImageURL>;
export type ChatAudio = Loose<ChatCompletionContentPartInputAudio.InputAudio>;
export type ChatFile = Loose<ChatCompletionContentPart.File.File>;
export type ChatReasoningDetail = Loose<never, Undeclared['reasoningDetail']>;
export type ChatAnnotation = Loose<ChatCompletionMessage.Annotation>;
export type ChatCitation = Loose<ChatCompletionMessage.Annotation.URLCitation, Undeclared['citation']>;

/** An entry of `tool_calls`; vendors write the members of the function beside it, too. */
export type ChatCall = Loose<
  | ChatCompletionMessageFunctionToolCall
  | ChatCompletionMessageCustomToolCall
  | ChatCompletionChunk.Choice.Delta.ToolCall
  | ChatCompletionMessageFunctionToolCall.Function
>;
/** What such an entry has under `function` or `custom`. */
export type ChatCallBody = Loose<
  ChatCompletionMessageFunctionToolCall.Function | ChatCompletionMessageCustomToolCall.Custom
>;

export type ChatTool = Loose<ChatCompletionTool>;
export type ChatToolBody = Loose<FunctionDefinition | ChatCompletionCustomTool.Custom>;
/** The format of a custom tool's input, or the grammar in it: Responses has both in one. */
export type ChatToolFormat = Loose<
  ChatCompletionCustomTool.Custom.Grammar | ChatCompletionCustomTool.Custom.Grammar.Grammar
>;
export type ChatToolChoice = Loose<
  ChatCompletionNamedToolChoice | ChatCompletionNamedToolChoiceCustom | ChatCompletionAllowedToolChoice
>;
export type ChatAllowedTools = Loose<ChatCompletionAllowedTools>;

/** A whole reply or a chunk. */
export type ChatReply = Loose<ChatCompletion | ChatCompletionChunk, Undeclared['reply']>;
export type ChatChoice = Loose<ChatCompletion.Choice | ChatCompletionChunk.Choice, Undeclared['choice']>;
export type ChatUsage = Loose<CompletionUsage, Undeclared['usage']>;
export type ChatUsageDetails = Loose<
  CompletionUsage.PromptTokensDetails | CompletionUsage.CompletionTokensDetails,
  Undeclared['usageDetails']
>;
