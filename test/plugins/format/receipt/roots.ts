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
