import type { TextFormat } from '#core/catalog/formats.ts';
import type { JsonObject } from '#core/json.ts';
import type { Traits } from '#core/catalog/traits.ts';
import type { Conversation } from '../canonical/conversation.ts';
import type { Notes } from '../canonical/notes.ts';
import { ToolNames } from '../canonical/tool-names.ts';
import { codecs, nameRules, ownKinds } from '../translation/codecs.ts';

/** What a switch goes by, and where it tells what was lost. */
export interface SwitchTarget {
  readonly traits: Traits;
  readonly notes: Notes;
  /** Of the upstream, see opaque-state.ts. */
  readonly origin: string;
}

/** The shortest dialogue in each format, without which no request can be read. */
const dialogues: Readonly<Record<TextFormat, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: '.' }] },
  responses: { input: '.' },
  messages: { messages: [{ role: 'user', content: '.' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: '.' }] }] },
};

/**
 * Reads a few members of a request as the way to a route of another format reads all of it, so that the same thing is
 * understood on both.
 *
 * @throws GatewayError `invalid_request` when they cannot be understood
 */
export function readMembers(format: TextFormat, members: JsonObject, notes: Notes): Conversation {
  return codecs[format].decodeRequest({ ...dialogues[format], ...members }, notes);
}

/**
 * What the way to a route of another format would make of these members, if it led to this one.
 *
 * @throws GatewayError `invalid_request` when they cannot be understood, `not_supported`
 */
export function rewriteMembers(format: TextFormat, members: JsonObject, target: SwitchTarget): JsonObject {
  const { traits, notes, origin } = target;
  const conversation = readMembers(format, members, notes);
  return codecs[format].encodeRequest(conversation, {
    model: '',
    traits,
    isStream: false,
    names: new ToolNames(conversation, nameRules[format]),
    notes,
    open: (state) => (state?.origin === origin && ownKinds[format].includes(state.kind) ? state.data : undefined),
  });
}
