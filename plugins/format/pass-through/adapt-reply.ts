import type { Route } from '#core/catalog/catalog.ts';
import type { Format } from '#core/catalog/formats.ts';
import { originOf } from '../canonical/opaque-state.ts';
import { ChatReplyAdapter } from '../chat/reply-adapter.ts';
import { GeminiReplyAdapter } from '../gemini/reply-adapter.ts';
import { MessagesReplyAdapter } from '../messages/reply-adapter.ts';
import type { ClientRequest } from '../request/client-request.ts';
import { ResponsesReplyAdapter } from '../responses/reply-adapter.ts';
import type { ReplyAdapter } from './reply-adapter.ts';

const adapters: Readonly<Record<Format, (new (client: ClientRequest, origin: string) => ReplyAdapter) | undefined>> = {
  chat: ChatReplyAdapter,
  responses: ResponsesReplyAdapter,
  messages: MessagesReplyAdapter,
  gemini: GeminiReplyAdapter,
  images: undefined,
};

/** Undefined when replies need no change. */
export function replyAdapterFor(client: ClientRequest, route: Route): ReplyAdapter | undefined {
  const Adapter = client.purpose === 'count' ? undefined : adapters[client.format];
  return Adapter && new Adapter(client, originOf(route.upstream));
}
