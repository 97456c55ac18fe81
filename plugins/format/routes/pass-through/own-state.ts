import type { Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { OpaqueState } from '../../canonical/conversation.ts';
import type { Notes } from '../../canonical/notes.ts';
import { originOf, readTaggedState } from '../../canonical/opaque-state.ts';
import {
  decodeSignature,
  requiresSignatures,
  signaturePlaceholder,
} from '../../formats/gemini/request/thought-signature.ts';

const dropped = Symbol('dropped');
const contentNames: ReadonlySet<string> = new Set(['content', 'parts']);
type Kept = JsonValue | undefined | typeof dropped;

/**
 * Removes the gateway's tags from opaque reasoning state that the route's upstream created, and drops the state of other upstreams. State
 * without a tag does not come from this gateway and stays.
 */
export function withOwnState(body: JsonObject, route: Route, notes: Notes): JsonObject {
  return new OwnState(route, notes).keep(body);
}

class OwnState {
  readonly #route: Route;
  readonly #origin: string;
  readonly #notes: Notes;

  constructor(route: Route, notes: Notes) {
    this.#route = route;
    this.#origin = originOf(route.upstream);
    this.#notes = notes;
  }

  keep(body: JsonObject): JsonObject {
    return this.#value(body) as JsonObject;
  }

  #value(value: JsonValue | undefined): Kept {
    if (Array.isArray(value)) return this.#list(value);
    // A raw number is an object without members.
    if (!isJsonObject(value) || JSON.isRawJSON(value)) return value;
    const tagged = taggedMember(value);
    return tagged === undefined ? this.#members(value) : this.#tagged(value, tagged);
  }

  /** Filters a list. A list that becomes empty is dropped, because vendors refuse empty lists. */
  #list(value: readonly JsonValue[]): Kept {
    const entries = value.map((entry) => this.#value(entry)).filter((entry) => entry !== dropped) as JsonValue[];
    return entries.length === 0 && value.length > 0 ? dropped : entries;
  }

  #members(value: JsonObject): Kept {
    const entries = Object.entries(value).map(([name, member]) => [name, this.#value(member)] as const);
    const hasLostContent = entries.some(([name, member]) => member === dropped && contentNames.has(name));
    // A message that contained only reasoning is also dropped.
    if (hasLostContent && value['role'] !== undefined) return dropped;
    return Object.fromEntries(entries.filter(([, member]) => member !== dropped)) as JsonObject;
  }

  #tagged(value: JsonObject, { name, state }: TaggedMember): Kept {
    if (state.origin === this.#origin && state.kind !== 'none') return { ...value, [name]: state.data };
    if (isOfPart(name)) return this.#part(value, name, state);
    this.#notes.drop('reasoning of another upstream');
    return dropped;
  }

  /** Drops the signature of a part, or the whole part if the signature was its only content. */
  #part(value: JsonObject, name: string, { kind }: OpaqueState): Kept {
    if (kind !== 'none') this.#notes.drop('reasoning of another upstream');
    const { [name]: _, ...part } = value;
    const isCall = part['functionCall'] !== undefined || part['function_call'] !== undefined;
    if (isCall && requiresSignatures(profileIn('gemini', this.#route.profile)))
      return { ...part, [name]: signaturePlaceholder };
    return part['text'] === '' ? dropped : part;
  }
}

/** True if a request contains reasoning state with the gateway's tag. Visits every member, but prompts have few members. */
export function hasTaggedState(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasTaggedState);
  if (!isJsonObject(value)) return false;
  if (taggedMember(value) !== undefined) return true;
  for (const name in value) if (hasTaggedState(value[name])) return true;
  return false;
}

interface TaggedMember {
  readonly name: string;
  readonly state: OpaqueState;
}

/** Readers of the members with opaque reasoning state in the various formats; `data` belongs to redacted blocks. */
const readers: Readonly<Record<string, (text: string) => OpaqueState | undefined>> = {
  signature: readTaggedState,
  encrypted_content: readTaggedState,
  data: readTaggedState,
  thoughtSignature: decodeSignature,
  thought_signature: decodeSignature,
};
const stateNames = Object.keys(readers);

function isOfPart(name: string): boolean {
  return readers[name] === decodeSignature;
}

function taggedMember(value: JsonObject): TaggedMember | undefined {
  for (const name of stateNames) {
    const text = value[name];
    const state = typeof text === 'string' ? readers[name]?.(text) : undefined;
    if (state !== undefined) return { name, state };
  }
  return undefined;
}
