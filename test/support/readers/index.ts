import type { TextFormat } from '../formats.ts';
import type { ClientReader } from './answer.ts';
import { chatReader } from './read-chat.ts';
import { geminiReader } from './read-gemini.ts';
import { messagesReader } from './read-messages.ts';
import { responsesReader } from './read-responses.ts';

/** How SDKs read answers, even if a vendor adds fields. */
export const readers: Readonly<Record<TextFormat, ClientReader>> = {
  chat: chatReader,
  responses: responsesReader,
  messages: messagesReader,
  gemini: geminiReader,
};
