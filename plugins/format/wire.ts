import type { IncomingHttpHeaders } from 'node:http';
import type { Format } from '#core/catalog/formats.ts';
import type { JsonObject } from '#core/json.ts';
import { ChatObserver } from './chat/observer.ts';
import type { Purpose } from './request/client-request.ts';
import { GeminiObserver } from './gemini/observer.ts';
import { ImagesObserver } from './images/observer.ts';
import { MessagesObserver } from './messages/observer.ts';
import {
  type ParameterRules,
  chatParameters,
  geminiParameters,
  imagesParameters,
  messagesParameters,
  responsesParameters,
} from './request/parameters.ts';
import type { ReplyObserver } from './reply-observer.ts';
import { ResponsesObserver } from './responses/observer.ts';

/** What the gateway has to know of a format to send and pass through. */
export interface Wire {
  /** Behind an upstream's base URL. @param model its name there */
  path(model: string, isStream: boolean, purpose: Purpose): string;
  readonly parameters: ParameterRules;
  /**
   * @param id of the exchange
   * @param body what the client has asked for
   */
  observe(id: string, body: JsonObject): ReplyObserver;
  /** Headers of the client that belong to the format and travel with the request, and those that it needs. */
  headers(client: IncomingHttpHeaders): Record<string, string>;
}

/** What is known of each format. A new format begins here. */
export const wires: Readonly<Record<Format, Wire>> = {
  chat: {
    path: () => '/chat/completions',
    parameters: chatParameters,
    observe: (id, { n }) => new ChatObserver(id, typeof n === 'number' ? n : 1),
    headers: () => ({}),
  },
  responses: {
    path: () => '/responses',
    parameters: responsesParameters,
    observe: (id) => new ResponsesObserver(id),
    headers: (client) => pick(client, ['openai-beta']),
  },
  messages: {
    path: (_model, _isStream, purpose) => (purpose === 'count' ? '/messages/count_tokens' : '/messages'),
    parameters: messagesParameters,
    observe: (id) => new MessagesObserver(id),
    headers: (client) => ({
      'anthropic-version': '2023-06-01',
      ...pick(client, ['anthropic-version', 'anthropic-beta']),
    }),
  },
  gemini: {
    path: (model, isStream, purpose) => `/models/${encodeURIComponent(model)}:${geminiMethod(isStream, purpose)}`,
    parameters: geminiParameters,
    observe: (id) => new GeminiObserver(id),
    headers: () => ({}),
  },
  images: {
    path: () => '/images/generations',
    parameters: imagesParameters,
    observe: (id) => new ImagesObserver(id),
    headers: () => ({}),
  },
};

function geminiMethod(isStream: boolean, purpose: Purpose): string {
  if (purpose === 'count') return 'countTokens';
  return isStream ? 'streamGenerateContent?alt=sse' : 'generateContent';
}

function pick(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}
