import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyDecoder, EncodeTarget } from '../../../../../plugins/format/canonical/codec.ts';
import type { ClientTool, Conversation, Item } from '../../../../../plugins/format/canonical/conversation.ts';
import type { GuardOptions } from '../../../../../plugins/format/canonical/guard-options.ts';
import { GrammarGuard } from '../../../../../plugins/format/canonical/guard.ts';
import { tagState } from '../../../../../plugins/format/canonical/opaque-state.ts';
import type { CompleteReply, Fragment, ReplyEvent } from '../../../../../plugins/format/canonical/reply.ts';
import { commonNameRules, ToolNames } from '../../../../../plugins/format/canonical/tool-names.ts';
import { chatCodec } from '../../../../../plugins/format/formats/chat/codec.ts';
import { chat } from '../../../../../plugins/format/formats/chat/descriptor.ts';
import { ChatDecoder } from '../../../../../plugins/format/formats/chat/reply/decode-reply.ts';
import { decodeWith, type Decoded, encodeWith, refusalBy } from '../../codec-fixture.ts';

export { calls, clientTool, nothing, picture, returns, says, text } from '../../codec-fixture.ts';
export { faults } from '../../../../support/schemas/faults.ts';

/** A request of these messages, read. */
export function read(...messages: JsonObject[]): Conversation {
  return decode({ model: 'm', messages }).conversation;
}

export const thinks = (value: string): Item => ({ type: 'reasoning', text: value, state: undefined });

export function newGuard(tools: readonly ClientTool[] = [], options: Partial<GuardOptions> = {}): GrammarGuard {
  return new GrammarGuard({
    toolNames: new ToolNames({ tools, items: [] }, commonNameRules),
    tagState: (kind, data) => tagState({ kind, origin: '0a1b2c3d', data }),
    exchangeId: 'x1',
    estimateInputTokens: () => 100,
    ...options,
  });
}

/** What a decoder makes of a stream: each chunk an object, or a line as it comes. */
export function fragmentsOf(
  chunks: readonly (JsonObject | string)[],
  decoder: ReplyDecoder = new ChatDecoder(),
): Fragment[] {
  return chunks.flatMap((chunk) =>
    decoder.readEvent(undefined, typeof chunk === 'string' ? chunk : JSON.stringify(chunk)),
  );
}

/** The reply that comes of these fragments. */
export function settle(fragments: readonly Fragment[], tools: readonly ClientTool[] = []): CompleteReply {
  const guard = newGuard(tools);
  guard.push(fragments);
  guard.close();
  if (guard.failure !== undefined) throw guard.failure;
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  return guard.reply;
}

export function delta(said: JsonObject, more: JsonObject = {}): JsonObject {
  return { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: said, ...more }] };
}

export const context = (request: JsonObject = {}) => ({ id: 'x1', model: 'mine', created: 1_700_000_000, request });

/** The stream and the whole reply that a client gets for these fragments. */
export function reply(
  fragments: readonly Fragment[],
  request: JsonObject = {},
  tools: readonly ClientTool[] = [],
): { chunks: JsonObject[]; lines: string[]; whole: JsonObject } {
  const guard = newGuard(tools);
  const encoder = chatCodec.createEncoder(context(request));
  const events: ReplyEvent[] = fragments.flatMap((fragment) => guard.push([fragment]));
  const lines = events
    .map((event) => encoder.encodeEvent(event))
    .join('')
    .split('\n\n')
    .filter((line) => line !== '');
  const chunks = lines
    .filter((line) => line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject);
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  const whole = chatCodec.createEncoder(context(request)).encodeWhole(guard.reply);
  return { chunks, lines, whole: JSON.parse(JSON.stringify(whole)) as JsonObject };
}

export function decode(body: JsonObject): Decoded {
  return decodeWith(chatCodec, body);
}

export function refusal(body: JsonObject): GatewayError {
  return refusalBy(() => decode(body));
}

export function encode(
  wanted: Partial<Conversation>,
  profile: ProfileSettings = {},
  target: Partial<EncodeTarget> = {},
): { body: JsonObject; notes: readonly string[] } {
  return encodeWith(chat, wanted, { profile, ...target });
}
