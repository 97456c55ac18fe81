import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyContext, EncodeTarget } from '../../../../../plugins/format/canonical/codec.ts';
import type { Conversation, Item } from '../../../../../plugins/format/canonical/conversation.ts';
import type { GuardOptions } from '../../../../../plugins/format/canonical/guard-options.ts';
import { GrammarGuard } from '../../../../../plugins/format/canonical/guard.ts';
import type { CompleteReply, Fragment, ReplyEvent } from '../../../../../plugins/format/canonical/reply.ts';
import { commonNameRules, ToolNames } from '../../../../../plugins/format/canonical/tool-names.ts';
import { messagesCodec } from '../../../../../plugins/format/formats/messages/codec.ts';
import { messages } from '../../../../../plugins/format/formats/messages/descriptor.ts';
import { decodeWith, type Decoded, encodeWith, nothing, refusalBy } from '../../codec-fixture.ts';

export { calls, clientTool, nothing, picture, returns, says, text } from '../../codec-fixture.ts';

export const hello: JsonObject = { role: 'user', content: 'Hi' };

/** Blocks of messages, and what stands in them. */
export const parameters = (settings: ProfileSettings['quirks']): ProfileSettings => ({ quirks: settings });
export const base64 = (media_type: string, data: string) => ({ type: 'base64', media_type, data });
export const block = (value: string) => ({ type: 'text', text: value });
export const used = (id: string, name: string, input: JsonObject) => ({ type: 'tool_use', id, name, input });

/** Made by the upstream that the request goes to, by default. */
export const thinks = (value: string, data: string, origin = 'own'): Item => ({
  type: 'reasoning',
  text: value,
  state: { kind: 'signature', origin, data },
});

export const context: ReplyContext = { id: 'req1', model: 'asked-for', created: 1_700_000_000, request: {} };

export function guarded(
  fragments: readonly Fragment[],
  options: Partial<GuardOptions> = {},
): { guard: GrammarGuard; events: ReplyEvent[] } {
  const guard = new GrammarGuard({
    ...options,
    toolNames: new ToolNames({ tools: [], items: [] }, commonNameRules),
    tagState: (kind, data) => `dps1:${kind}:${data}`,
    exchangeId: 'x',
    estimateInputTokens: () => 25,
  });
  return { guard, events: [...guard.push(fragments), ...guard.close()] };
}

export function repliedTo(
  fragments: readonly Fragment[],
  options: Partial<GuardOptions> = {},
): { events: ReplyEvent[]; reply: CompleteReply } {
  const { guard, events } = guarded(fragments, options);
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  return { events, reply: guard.reply };
}

/** @param more members of the body, `messages` among them where they matter */
export function decode(more: JsonObject): Decoded {
  return decodeWith(messagesCodec, { model: 'm', max_tokens: 100, messages: [hello], ...more });
}

export function refusal(more: JsonObject): GatewayError {
  return refusalBy(() => decode(more));
}

export function encode(
  wanted: Partial<Conversation>,
  profile: ProfileSettings = {},
  target: Partial<EncodeTarget> = {},
): { body: JsonObject; notes: readonly string[] } {
  return encodeWith(messages, wanted, {
    model: 'claude-there',
    profile,
    isStream: true,
    names: new ToolNames({ ...nothing, ...wanted }, { ...commonNameRules, maxLength: 128 }),
    findAcceptedState: (state) => (state?.origin === 'own' ? state.data : undefined),
    ...target,
  });
}
