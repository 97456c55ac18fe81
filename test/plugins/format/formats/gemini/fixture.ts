import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { ReplyContext, EncodeTarget } from '../../../../../plugins/format/canonical/codec.ts';
import type { Conversation, Item } from '../../../../../plugins/format/canonical/conversation.ts';
import type { GuardOptions } from '../../../../../plugins/format/canonical/guard-options.ts';
import { GrammarGuard } from '../../../../../plugins/format/canonical/guard.ts';
import { tagState } from '../../../../../plugins/format/canonical/opaque-state.ts';
import type { Fragment, ReplyEvent } from '../../../../../plugins/format/canonical/reply.ts';
import { ToolNames } from '../../../../../plugins/format/canonical/tool-names.ts';
import { geminiCodec } from '../../../../../plugins/format/formats/gemini/codec.ts';
import { gemini } from '../../../../../plugins/format/formats/gemini/descriptor.ts';
import { decodeWith, type Decoded, encodeWith, nothing, refusalBy } from '../../codec-fixture.ts';

export { calls, clientTool, nothing, picture, returns, says, text } from '../../codec-fixture.ts';

export const user = (...parts: JsonValue[]): JsonObject => ({ role: 'user', parts });
export const model = (...parts: JsonValue[]): JsonObject => ({ role: 'model', parts });
export const hello = user({ text: 'Hi' });
/** What the tag of an upstream looks like in this format. */
export const madeBy = (origin: string, data: string) =>
  Buffer.from(tagState({ kind: 'thought', origin, data })).toString('base64');

/** Made by the upstream that the request goes to, by default. */
export const thinks = (value: string, data: string, origin = 'own'): Item => ({
  type: 'reasoning',
  text: value,
  state: { kind: 'thought', origin, data },
});

export const asking = (request: JsonObject = {}): ReplyContext => ({
  id: 'req1',
  model: 'asked-for',
  created: 1_700_000_000,
  request,
});
export const withThoughts: JsonObject = { generationConfig: { thinkingConfig: { includeThoughts: true } } };

export function guarded(
  fragments: readonly Fragment[],
  options: Partial<GuardOptions> = {},
): { guard: GrammarGuard; events: ReplyEvent[] } {
  const guard = new GrammarGuard({
    ...options,
    toolNames: new ToolNames({ tools: [], items: [] }, geminiCodec.toolNames),
    tagState: (kind, data) => tagState({ kind, origin: '0a1b2c3d', data }),
    exchangeId: 'x',
    estimateInputTokens: () => 25,
  });
  return { guard, events: [...guard.push(fragments), ...guard.close()] };
}

/** @param more members of the body, `contents` among them where they matter */
export function decode(more: JsonObject): Decoded {
  return decodeWith(geminiCodec, { contents: [hello], ...more });
}

export function refusal(more: JsonObject): GatewayError {
  return refusalBy(() => decode(more));
}

/** For a model that thinks by levels, unless the profile say otherwise. */
export function encode(
  wanted: Partial<Conversation>,
  profile: ProfileSettings = {},
  target: Partial<EncodeTarget> = {},
): { body: JsonObject; notes: readonly string[] } {
  return encodeWith(gemini, wanted, {
    model: 'gemini-there',
    profile: { ...profile, quirks: { reasoning: 'level', ...profile.quirks } },
    isStream: true,
    names: new ToolNames({ ...nothing, ...wanted }, geminiCodec.toolNames),
    findAcceptedState: (state) => (state?.origin === 'own' ? state.data : undefined),
    ...target,
  });
}
