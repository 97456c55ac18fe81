import type { UpstreamTextFormat } from '../../support/formats.ts';
import { chatUpstream } from './chat.ts';
import { geminiUpstream } from './gemini.ts';
import { messagesUpstream } from './messages.ts';
import { ollamaUpstream } from './ollama.ts';
import { responsesUpstream } from './responses.ts';
import type { UpstreamFormat } from './upstream-format.ts';

export const upstreams: Readonly<Record<UpstreamTextFormat, UpstreamFormat>> = {
  chat: chatUpstream,
  responses: responsesUpstream,
  messages: messagesUpstream,
  gemini: geminiUpstream,
  ollama: ollamaUpstream,
};
