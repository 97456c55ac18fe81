import type * as chat from 'openai/resources/chat/completions';
import type * as completions from 'openai/resources/completions';
import type * as shared from 'openai/resources/shared';
import type { Loose } from './loose.ts';

/** Members that OpenAI's SDK does not declare, each with the vendors that use it. */
interface UndeclaredMembers {
  request:
    | 'top_k' // OpenRouter, vLLM
    | 'random_seed' // Mistral
    | 'reasoning' // OpenRouter
    | 'thinking' // DeepSeek, Moonshot, Z.ai
    | 'enable_thinking' // DashScope
    | 'thinking_budget'; // DashScope
  reasoning: 'type' | 'budget_tokens' | 'effort' | 'enabled' | 'exclude' | 'max_tokens';
  message:
    | 'reasoning_content' // DeepSeek
    | 'reasoning' // OpenRouter
    | 'reasoning_details' // OpenRouter, MiniMax, this gateway
    | 'images' // OpenRouter, this gateway
    | 'executed_tools'; // Groq
  reasoningDetail: 'type' | 'index' | 'text' | 'summary' | 'data' | 'text_length';
  part:
    | 'thinking' // Mistral
    | 'index' // OpenRouter, on image parts
    | 'cache_control' // OpenRouter, LiteLLM
    | 'video_url'; // DashScope, Moonshot, OpenRouter, vLLM, Z.ai
  citation: 'content'; // OpenRouter
  reply:
    | 'x_groq' // Groq, with the usage
    | 'citations' // xAI, Perplexity
    | 'search_results' // Perplexity
    | 'web_search' // Z.ai
    | 'prompt_filter_results' // Azure
    | 'prompt_annotations' // Azure, before 2023-06
    | 'error'; // OpenRouter and others, instead of an answer
  choice:
    | 'stop_reason' // vLLM
    | 'usage' // Moonshot
    | 'error'; // OpenRouter
  usage:
    | 'prompt_cache_hit_tokens' // DeepSeek
    | 'cached_tokens' // Moonshot
    | 'num_cached_tokens'; // Mistral
  usageDetails: 'cache_creation_input_tokens'; // DashScope
  source:
    | 'url' // Perplexity, Groq
    | 'link' // Z.ai
    | 'title'
    | 'search_results' // Groq, in an executed tool
    | 'results'; // Groq
  filterResults: 'prompt_index' | 'content_filter_results'; // Azure
}

export type ChatRequest = Loose<chat.ChatCompletionCreateParams, UndeclaredMembers['request']>;
export type ChatStreamOptions = Loose<chat.ChatCompletionStreamOptions>;
export type ChatReasoningOptions = Loose<never, UndeclaredMembers['reasoning']>;
export type ChatResponseFormat = Loose<shared.ResponseFormatJSONSchema>;

/** A message of a request or a reply, or a delta of a message. */
export type ChatMessage = Loose<
  chat.ChatCompletionMessageParam | chat.ChatCompletionMessage | chat.ChatCompletionChunk.Choice.Delta,
  UndeclaredMembers['message']
>;
export type ChatPart = Loose<
  chat.ChatCompletionContentPart | chat.ChatCompletionContentPartRefusal,
  UndeclaredMembers['part']
>;
export type ChatImage = Loose<chat.ChatCompletionContentPartImage.ImageURL>;
export type ChatAudio = Loose<chat.ChatCompletionContentPartInputAudio.InputAudio>;
export type ChatReasoningDetail = Loose<never, UndeclaredMembers['reasoningDetail']>;
export type ChatAnnotation = Loose<chat.ChatCompletionMessage.Annotation>;
/** A source listed outside an answer's text, or a tool that the vendor ran, with its results. */
export type ChatSource = Loose<never, UndeclaredMembers['source']>;
export type ChatCitation = Loose<chat.ChatCompletionMessage.Annotation.URLCitation, UndeclaredMembers['citation']>;

/** An entry of `tool_calls`. Some vendors put the function's members directly into the entry. */
export type ChatCall = Loose<
  | chat.ChatCompletionMessageFunctionToolCall
  | chat.ChatCompletionMessageCustomToolCall
  | chat.ChatCompletionChunk.Choice.Delta.ToolCall
  | chat.ChatCompletionMessageFunctionToolCall.Function
>;
/** Members under `function` or `custom` in an entry of `tool_calls`. */
export type ChatCallBody = Loose<
  chat.ChatCompletionMessageFunctionToolCall.Function | chat.ChatCompletionMessageCustomToolCall.Custom
>;

export type ChatTool = Loose<chat.ChatCompletionTool>;
export type ChatToolBody = Loose<shared.FunctionDefinition | chat.ChatCompletionCustomTool.Custom>;
/** The format of a custom tool's input, or the grammar nested in it. The Responses API merges the two into one object. */
export type ChatToolFormat = Loose<
  chat.ChatCompletionCustomTool.Custom.Grammar | chat.ChatCompletionCustomTool.Custom.Grammar.Grammar
>;
export type ChatToolChoice = Loose<
  chat.ChatCompletionNamedToolChoice | chat.ChatCompletionNamedToolChoiceCustom | chat.ChatCompletionAllowedToolChoice
>;
export type ChatAllowedTools = Loose<chat.ChatCompletionAllowedTools>;

/** A non-streaming reply or a chunk. */
export type ChatReply = Loose<chat.ChatCompletion | chat.ChatCompletionChunk, UndeclaredMembers['reply']>;
export type ChatChoice = Loose<
  chat.ChatCompletion.Choice | chat.ChatCompletionChunk.Choice,
  UndeclaredMembers['choice']
>;
/** Results of Azure's content filter for a prompt. */
export type ChatFilterResults = Loose<never, UndeclaredMembers['filterResults']>;
export type ChatLogprobs = Loose<chat.ChatCompletion.Choice.Logprobs>;
export type ChatUsage = Loose<completions.CompletionUsage, UndeclaredMembers['usage']>;
export type ChatUsageDetails = Loose<
  completions.CompletionUsage.PromptTokensDetails | completions.CompletionUsage.CompletionTokensDetails,
  UndeclaredMembers['usageDetails']
>;
