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

const contentNames: ReadonlySet<string> = new Set(['content', 'parts']);
const stateReaders: Readonly<Record<string, (text: string) => OpaqueState | undefined>> = {
  signature: readTaggedState,
  encrypted_content: readTaggedState,
  data: readTaggedState, // in redacted blocks
  thoughtSignature: decodeSignature,
  thought_signature: decodeSignature,
};
const stateNames = Object.keys(stateReaders);

interface TaggedMember {
  readonly name: string;
  readonly state: OpaqueState;
}

/**
 * Removes the gateway's tags from opaque reasoning state that the route's upstream created, and drops other upstreams' state. State without
 * a tag does not come from this gateway and is kept.
 */
export function filterState(body: JsonObject, route: Route, notes: Notes): JsonObject {
  const origin = deriveOrigin(route.upstream);
  const replaceState = (value: JsonObject, { name, state }: TaggedMember): JsonObject | undefined => {
    // Kind `none` marks a call without a signature, so there is no state to send.
    if (state.origin === origin && state.kind !== 'none') return { ...value, [name]: state.data };
    const isOfPart = isPartSignature(name);
    if (!isOfPart || state.kind !== 'none') notes.drop('reasoning of another upstream');
    return isOfPart ? dropSignature(value, name, route) : undefined;
  };
  return filterValue(body, replaceState) as JsonObject;
}

/**
 * Returns undefined if the value must be removed: a list that becomes empty, because vendors refuse empty lists, or a message that had only
 * reasoning.
 */
function filterValue(
  value: JsonValue | undefined,
  replaceState: (value: JsonObject, tagged: TaggedMember) => JsonObject | undefined,
): JsonValue | undefined {
  if (Array.isArray(value)) {
    const entries = value.map((entry) => filterValue(entry, replaceState)).filter((entry) => entry !== undefined);
    return entries.length === 0 && value.length > 0 ? undefined : entries;
  }
  // A raw number is an object, but one without members.
  if (!isJsonObject(value) || JSON.isRawJSON(value)) return value;
  const tagged = findTaggedMember(value);
  if (tagged !== undefined) return replaceState(value, tagged);
  const entries = Object.entries(value).map(([name, member]) => [name, filterValue(member, replaceState)] as const);
  const hasLostContent = entries.some(([name, member]) => member === undefined && contentNames.has(name));
  if (hasLostContent && value['role'] !== undefined) return undefined;
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
}

function dropSignature(value: JsonObject, name: string, { profile }: Route): JsonObject | undefined {
  const { [name]: _, ...part } = value;
  const isCall = part['functionCall'] !== undefined || part['function_call'] !== undefined;
  if (isCall && requiresSignatures(profileIn('gemini', profile))) return { ...part, [name]: signaturePlaceholder };
  return part['text'] === '' ? undefined : part;
}

/** Returns true if a request has reasoning state with the gateway's tag. Visits every member; even long prompts have few. */
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
