import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import type { Profile } from '#core/config/catalog/profile.ts';
import type { Codec } from '../../canonical/codec.ts';
import type { Conversation, StateKind } from '../../canonical/conversation.ts';
import type { KeptReasoning } from '../../canonical/kept-reasoning.ts';
import type { Notes } from '../../canonical/notes.ts';
import { type NameRules, ToolNames } from '../../canonical/tool-names.ts';

/** The route that a request is adapted to, and where losses are noted. */
export interface AdaptationTarget {
  readonly profile: Profile;
  readonly notes: Notes;
  /** Tag of the upstream, see opaque-state.ts. */
  readonly origin: string;
  readonly kept?: KeptReasoning | undefined;
  /** Replaces the end user that the client names; undefined where that is to stay. */
  readonly endUser?: string | undefined;
}

/**
 * Adapts a request to the profile of a route. Returns the same object when nothing changes.
 *
 * @throws GatewayError `not_supported` when the route cannot serve the request, `invalid_request` when a part that must
 *   change is malformed
 */
export type Adaptation = (body: JsonObject, target: AdaptationTarget) => JsonObject;

/** Adapts the object that is the value of a member. */
export function withInner(name: string, adapt: Adaptation): Adaptation {
  return (body, target) => {
    const inner = body[name];
    if (!isJsonObject(inner)) return body;
    const adapted = adapt(inner, target);
    return adapted === inner ? body : { ...body, [name]: adapted };
  };
}

export function inOrder(...adaptations: readonly Adaptation[]): Adaptation {
  return (body, target) => {
    let adapted = body;
    for (const adapt of adaptations) adapted = adapt(adapted, target);
    return adapted;
  };
}

/** Decodes and encodes some members of a request as a translation does. */
export interface Probe {
  readonly codec: Codec;
  readonly toolNames: NameRules;
  readonly stateKinds: readonly StateKind[];
  /** The shortest dialogue that a request needs to be decoded. */
  readonly dialogue: JsonObject;
}

/**
 * Decodes some members of a request exactly as a translation would.
 *
 * @throws GatewayError `invalid_request` when they cannot be understood
 */
export function readMembers({ codec, dialogue }: Probe, members: JsonObject, notes: Notes): Conversation {
  return codec.decodeRequest({ ...dialogue, ...members }, notes);
}

/**
 * Rewrites these members for the route as a translation would.
 *
 * @throws GatewayError `invalid_request` when they cannot be understood, `not_supported`
 */
export function rewriteMembers(probe: Probe, members: JsonObject, target: AdaptationTarget): JsonObject {
  const { profile, notes, origin } = target;
  const { codec, toolNames, stateKinds } = probe;
  const conversation = readMembers(probe, members, notes);
  return codec.encodeRequest(conversation, {
    model: '',
    profile,
    isStream: false,
    names: new ToolNames(conversation, toolNames),
    notes,
    ownState: (state) => (state?.origin === origin && stateKinds.includes(state.kind) ? state.data : undefined),
  });
}
