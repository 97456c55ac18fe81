import type { Profile } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Codec } from '../../canonical/codec.ts';
import type { Conversation } from '../../canonical/conversation.ts';
import type { Notes } from '../../canonical/notes.ts';
import { createStateLookup } from '../../canonical/opaque-state.ts';
import type { StoredReasoning } from '../../canonical/stored-reasoning.ts';
import { ToolNames } from '../../canonical/tool-names.ts';

/** The route that a request is adapted to, and where losses are noted. */
export interface AdaptationTarget {
  readonly profile: Profile;
  readonly notes: Notes;
  /** The upstream's origin tag, see opaque-state.ts. */
  readonly origin: string;
  readonly storedReasoning?: StoredReasoning | undefined;
  /** Replaces the client's end user; undefined to keep the client's. */
  readonly endUser?: string | undefined;
}

/**
 * Adapts a request to a route's profile. Returns the same object if nothing changes.
 *
 * @throws GatewayError `not_supported` if the route cannot serve the request, `invalid_request` if a part that must change is malformed
 */
export type Adaptation = (body: JsonObject, target: AdaptationTarget) => JsonObject;

/** Combines adaptations. Each receives the body that the previous one returned. */
export function chainAdaptations(...adaptations: readonly Adaptation[]): Adaptation {
  return (body, target) => {
    let adaptedBody = body;
    for (const adapt of adaptations) adaptedBody = adapt(adaptedBody, target);
    return adaptedBody;
  };
}

/**
 * Decodes some of a request's members exactly as a translation would.
 *
 * @throws GatewayError `invalid_request` if they cannot be decoded
 */
export function decodeMembers(codec: Codec, members: JsonObject, notes: Notes): Conversation {
  return codec.decodeRequest({ ...codec.minimalDialogue, ...members }, notes);
}

/**
 * Decodes members and encodes them for a route, as a translation would.
 *
 * @throws GatewayError `invalid_request` if they cannot be decoded, `not_supported` if the route cannot serve them
 */
export function reencodeMembers(codec: Codec, members: JsonObject, target: AdaptationTarget): JsonObject {
  const { profile, notes, origin } = target;
  const conversation = decodeMembers(codec, members, notes);
  return codec.encodeRequest(conversation, {
    model: '',
    profile,
    isStream: false,
    names: new ToolNames(conversation, codec.toolNames),
    notes,
    findAcceptedState: createStateLookup(codec, origin),
  });
}
