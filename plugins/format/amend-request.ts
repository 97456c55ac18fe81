import type { Route } from '#core/catalog.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { Notes } from './canonical/notes.ts';
import { originOf, readTaggedState } from './canonical/opaque-state.ts';
import type { ClientRequest } from './client-request.ts';
import { applySwitches } from './parameter-switches.ts';
import { rewriteModel } from './rewrite-model.ts';

export interface AmendedRequest {
  readonly body: Buffer | string;
  readonly notes?: readonly string[];
}

/**
 * A request in the client's format, as a route of that format gets it. As a rule only the model's name is another;
 * every other byte is what the client sent.
 */
export function amendRequest(client: ClientRequest, route: Route): AmendedRequest {
  const { format, text, body: parsed, isStream } = client;
  const notes = new Notes();
  const switched = applySwitches(client, route.traits, notes);
  const isSealed = hasSeals(parsed);
  if (switched === parsed && !isSealed) {
    const body = format === 'gemini' ? client.bytes : rewriteModel(client.bytes, text, parsed, route.model);
    return { body: format === 'chat' && isStream ? askForUsage(body, parsed, route) : body };
  }
  const opened = isSealed ? openStates(switched, originOf(route.upstream), notes) : switched;
  const named = format === 'gemini' ? opened : { ...opened, model: route.model };
  const asked = format === 'chat' && isStream && wantsUsage(named, route) ? { ...usageOption, ...named } : named;
  return { body: JSON.stringify(asked), notes: notes.entries };
}

const usageOption = { stream_options: { include_usage: true } } as const;
const usagePrefix = Buffer.from(`${JSON.stringify(usageOption).slice(0, -1)},`);
const brace = 0x7b;

/** The record needs the counts; the client sees them only when it has asked itself. */
function askForUsage(body: Buffer | string, parsed: JsonObject, route: Route): Buffer | string {
  if (!wantsUsage(parsed, route)) return body;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return bytes[0] === brace ? Buffer.concat([usagePrefix, bytes.subarray(1)]) : body;
}

function wantsUsage(body: JsonObject, { traits }: Route): boolean {
  return traits.parameters.stream_usage && !isJsonObject(body['stream_options']);
}

/**
 * Takes our tags off the sealed reasoning that this upstream has made, and takes out what another has made. What has no
 * tag did not come from here and stays as it is.
 */
function openStates(body: JsonObject, origin: string, notes: Notes): JsonObject {
  return openValue(body, origin, notes) as JsonObject;
}

const dropped = Symbol('dropped');

function openValue(value: JsonValue | undefined, origin: string, notes: Notes): JsonValue | undefined | typeof dropped {
  if (Array.isArray(value)) {
    return value.map((entry) => openValue(entry, origin, notes)).filter((entry) => entry !== dropped) as JsonValue[];
  }
  if (!isJsonObject(value)) return value;
  const sealed = sealedMember(value);
  if (sealed === undefined) return openMembers(value, origin, notes);
  const state = readTaggedState(sealed.text);
  if (state === undefined) return value;
  if (state.origin === origin && state.kind !== 'none') return { ...value, [sealed.name]: state.data };
  notes.drop('reasoning of another upstream');
  // A block that is nothing but reasoning goes as a whole; a call only loses its seal.
  return sealed.name === 'thoughtSignature' ? omit(value, sealed.name) : dropped;
}

function openMembers(value: JsonObject, origin: string, notes: Notes): JsonObject {
  const entries = Object.entries(value).map(([name, member]) => [name, openValue(member, origin, notes)] as const);
  return Object.fromEntries(entries.filter(([, member]) => member !== dropped)) as JsonObject;
}

/** Looks at members, not at characters: a prompt has few of the one and many of the other. */
function hasSeals(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasSeals);
  if (!isJsonObject(value)) return false;
  if (sealedMember(value) !== undefined) return true;
  for (const name in value) if (hasSeals(value[name])) return true;
  return false;
}

/** Members in which the formats keep sealed reasoning. `data` is that of a redacted block. */
const sealNames = ['signature', 'encrypted_content', 'thoughtSignature', 'data'] as const;

function sealedMember(value: JsonObject): { readonly name: string; readonly text: string } | undefined {
  for (const name of sealNames) {
    const text = value[name];
    if (typeof text === 'string' && text.startsWith('dps1')) return { name, text };
  }
  return undefined;
}

function omit(value: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = value;
  return rest;
}
