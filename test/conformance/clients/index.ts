import type { TextFormat } from '../../support/formats.ts';
import { chatClient } from './chat.ts';
import type { ClientFormat } from './client-format.ts';
import { geminiClient } from './gemini.ts';
import { messagesClient } from './messages.ts';
import { responsesClient } from './responses.ts';

export const clients: Readonly<Record<TextFormat, ClientFormat>> = {
  chat: chatClient,
  responses: responsesClient,
  messages: messagesClient,
  gemini: geminiClient,
};
