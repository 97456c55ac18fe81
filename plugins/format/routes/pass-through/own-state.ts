import type { Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { OpaqueState } from '../../canonical/conversation.ts';
import type { Notes } from '../../canonical/notes.ts';
import { deriveOrigin, readTaggedState } from '../../canonical/opaque-state.ts';
import {
  decodeSignature,
  requiresSignatures,
  signaturePlaceholder,
} from '../../formats/gemini/request/thought-signature.ts';

const dropped = Symbol('dropped');
const contentNames: ReadonlySet<string> = new Set(['content', 'parts']);
/** Readers of opaque reasoning state, by the member that holds it in one of the formats; `data` is a member of redacted blocks. */
const stateReaders: Readonly<Record<string, (text: string) => OpaqueState | undefined>> = {
  signature: readTaggedState,
  encrypted_content: readTaggedState,
  data: readTaggedState,
  thoughtSignature: decodeSignature,
  thought_signature: decodeSignature,
};
const stateNames = Object.keys(stateReaders);
type FilteredValue = JsonValue | undefined | typeof dropped;

/** A member that holds opaque state with the gateway's tag. */
interface TaggedMember {
  readonly name: string;
  readonly state: OpaqueState;
}

/**
 * Removes the gateway's tags from opaque reasoning state that the route's upstream created, and drops the state of other upstreams. State
 * without a tag does not come from this gateway and stays.
 */
export function filterState(body: JsonObject, route: Route, notes: Notes): JsonObject {
  return new StateFilter(route, notes).filterBody(body);
}

/** Filters the state in a body. The filters return `dropped` for a value that must be removed. */
class StateFilter {
  readonly #route: Route;
  readonly #origin: string;
  readonly #notes: Notes;

  constructor(route: Route, notes: Notes) {
    this.#route = route;
    this.#origin = deriveOrigin(route.upstream);
    this.#notes = notes;
  }

  filterBody(body: JsonObject): JsonObject {
    return this.#filter(body) as JsonObject;
  }

  #filter(value: JsonValue | undefined): FilteredValue {
    if (Array.isArray(value)) return this.#filterList(value);
    // A raw number is an object without members.
    if (!isJsonObject(value) || JSON.isRawJSON(value)) return value;
    const tagged = findTaggedMember(value);
    return tagged === undefined ? this.#filterMembers(value) : this.#replaceState(value, tagged);
  }

  /** Filters a list. A list that becomes empty is dropped, because vendors refuse empty lists. */
  #filterList(value: readonly JsonValue[]): FilteredValue {
    const entries = value.map((entry) => this.#filter(entry)).filter((entry) => entry !== dropped) as JsonValue[];
    return entries.length === 0 && value.length > 0 ? dropped : entries;
  }

  #filterMembers(value: JsonObject): FilteredValue {
    const entries = Object.entries(value).map(([name, member]) => [name, this.#filter(member)] as const);
    const hasLostContent = entries.some(([name, member]) => member === dropped && contentNames.has(name));
    // A message that contained only reasoning is also dropped.
    if (hasLostContent && value['role'] !== undefined) return dropped;
    return Object.fromEntries(entries.filter(([, member]) => member !== dropped)) as JsonObject;
  }

  #replaceState(value: JsonObject, { name, state }: TaggedMember): FilteredValue {
    // Kind `none` marks a call without a signature, so there is nothing to restore.
    if (state.origin === this.#origin && state.kind !== 'none') return { ...value, [name]: state.data };
    if (isPartSignature(name)) return this.#filterPart(value, name, state);
    this.#notes.drop('reasoning of another upstream');
    return dropped;
  }

  /** Drops the signature of a part, or the whole part if the signature was its only content. */
  #filterPart(value: JsonObject, name: string, { kind }: OpaqueState): FilteredValue {
    if (kind !== 'none') this.#notes.drop('reasoning of another upstream');
    const { [name]: _, ...part } = value;
    const isCall = part['functionCall'] !== undefined || part['function_call'] !== undefined;
    if (isCall && requiresSignatures(profileIn('gemini', this.#route.profile)))
      return { ...part, [name]: signaturePlaceholder };
    return part['text'] === '' ? dropped : part;
  }
}

/** Returns true if a request contains reasoning state with the gateway's tag. Visits every member; even long prompts have few. */
export function hasTaggedState(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasTaggedState);
  if (!isJsonObject(value)) return false;
  if (findTaggedMember(value) !== undefined) return true;
  for (const name in value) if (hasTaggedState(value[name])) return true;
  return false;
}

function isPartSignature(name: string): boolean {
  return stateReaders[name] === decodeSignature;
}

function findTaggedMember(value: JsonObject): TaggedMember | undefined {
  for (const name of stateNames) {
    const text = value[name];
    const state = typeof text === 'string' ? stateReaders[name]?.(text) : undefined;
    if (state !== undefined) return { name, state };
  }
  return undefined;
}
