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

type Started = Anthropic.RawMessageStartEvent;

/** Events with an answer: those at the end repeat all of it, and the others say how far it is. */
type Named<Event> = Event extends { type: infer Type; response: unknown }
  ? {
      readonly type: Type;
      readonly response: Type extends 'response.completed' ? Answers['responses'] : { id: string };
    }
  : Event;

/** The events of streamed answers. A chunk of Gemini is an answer. */
export interface Events {
  readonly chat: OpenAI.Chat.ChatCompletionChunk;
  readonly responses: Named<OpenAI.Responses.ResponseStreamEvent>;
  /** A message starts without content. */
  readonly messages:
    | Exclude<Anthropic.RawMessageStreamEvent, Started>
    | { readonly type: Started['type']; readonly message: Omit<Started['message'], 'content'> };
  readonly gemini: Answers['gemini'];
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
