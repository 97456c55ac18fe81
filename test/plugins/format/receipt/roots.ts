import type Anthropic from '@anthropic-ai/sdk';
import type * as google from '@google/genai';
import type OpenAI from 'openai';

/** The requests of each format, as its vendor publishes them. Google publishes those of its SDK, which has the members of the body apart. */
export interface Roots {
  readonly chat: OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
  readonly responses: OpenAI.Responses.ResponseCreateParamsNonStreaming;
  readonly messages: Anthropic.MessageCreateParamsNonStreaming;
  readonly gemini: {
    readonly contents: google.Content[];
    readonly systemInstruction?: google.Content;
    readonly tools?: google.Tool[];
    readonly toolConfig?: google.ToolConfig;
    readonly safetySettings?: google.SafetySetting[];
    readonly generationConfig?: google.GenerationConfig;
    readonly cachedContent?: string;
  };
}

/** The events of streamed answers whose types are not those of their parts. */
export interface Events {
  readonly responses: OpenAI.Responses.ResponseStreamEvent;
}

/** The whole answers of each format. Google publishes one with the helpers of its SDK. */
export interface Answers {
  readonly chat: OpenAI.Chat.ChatCompletion;
  /** Without the settings of the request, which it repeats. */
  readonly responses: Omit<
    OpenAI.Responses.Response,
    Exclude<keyof OpenAI.Responses.ResponseCreateParams, 'service_tier'> | 'output_text'
  >;
  readonly messages: Anthropic.Message;
  readonly gemini: Pick<
    google.GenerateContentResponse,
    'candidates' | 'modelVersion' | 'promptFeedback' | 'responseId' | 'usageMetadata'
  >;
}
