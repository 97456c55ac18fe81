import type { Route } from '#core/catalog/catalog.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { Notes } from '../canonical/notes.ts';
import { originOf, readTaggedState } from '../canonical/opaque-state.ts';
import type { OpaqueState } from '../canonical/conversation.ts';
import { type ClientRequest, exactBody } from '../request/client-request.ts';
import { demandsSignatures, decodeSignature, skipValidation } from '../gemini/thought-signature.ts';
import { isClientTextFormat, isTextFormat } from '../descriptor.ts';
import { rewriteModel } from './rewrite-model.ts';
import { missingUsageOption } from './usage-option.ts';

export interface AdaptedRequest {
  readonly body: Buffer | string;
  readonly notes?: readonly string[];
  /** Stop sequences that the route does not take; the gateway cuts the answer at them. */
  readonly localStops?: readonly string[];
}

/**
 * A request in the client's format, as a route of that format gets it. As a rule only the model's name is another;
 * every other byte is what the client sent.
 *
 * @throws GatewayError `not_supported`, `invalid_request`, see `Adaptation`
 */
export function adaptRequest(client: ClientRequest, route: Route): AdaptedRequest {
  return adaptBody(client, client.body, route);
}

function adaptBody(client: ClientRequest, parsed: JsonObject, route: Route): AdaptedRequest {
  const { format, text, purpose } = client;
  const { isModelInPath = false, settle, nameCounted } = format.client;
  const notes = new Notes();
  const target = { profile: route.profile, notes, origin: originOf(route.upstream) };
  const adapted = isTextFormat(format) ? format.text.adapt(parsed, target) : parsed;
  const opened = hasSeals(parsed) ? new SealOpener(route, notes).open(adapted) : adapted;
  const said = settle?.(opened, parsed, notes) ?? opened;
  const settled = purpose === 'count' ? (nameCounted?.(said, route.model) ?? said) : said;
  const usage =
    isTextFormat(format) && client.isStream ? missingUsageOption(format, settled, route.profile) : undefined;
  if (settled === parsed) {
    const body = isModelInPath ? client.bytes : rewriteModel(client.bytes, text, parsed, route.model);
    return { body: usage === undefined ? body : insertMember(body, usage.prefix) };
  }
  // Written anew, inputs of calls would lose what a double cannot hold.
  const exact = parsed === client.body ? exactBody(client) : parsed;
  if (exact !== parsed) return adaptBody(client, exact, route);
  const named = isModelInPath ? settled : { ...settled, model: route.model };
  return {
    body: JSON.stringify(usage === undefined ? named : { [usage.name]: usage.value, ...named }),
    notes: notes.entries,
    ...localStopsOf(client, parsed, named),
  };
}

function localStopsOf({ format }: ClientRequest, wanted: JsonObject, sent: JsonObject) {
  if (!isClientTextFormat(format) || !format.client.text.isOneAnswer(wanted)) return {};
  const reported = format.text.reportedStops(sent);
  const localStops = format.text.reportedStops(wanted).filter((sequence) => !reported.includes(sequence));
  return localStops.length === 0 ? {} : { localStops };
}

const brace = 0x7b;

/** Puts a member before the others of an object. */
function insertMember(body: Buffer | string, prefix: Buffer): Buffer | string {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes[0] !== brace) return body;
  return Buffer.concat([prefix, bytes.subarray(1)]);
}

const dropped = Symbol('dropped');
/** Where the formats keep what a message says. */
const contentNames: ReadonlySet<string> = new Set(['content', 'parts']);
type Opened = JsonValue | undefined | typeof dropped;

/**
 * Takes our tags off the sealed reasoning that this upstream has made, and takes out what another has made. What has no
 * tag did not come from here and stays as it is.
 */
class SealOpener {
  readonly #route: Route;
  readonly #origin: string;
  readonly #notes: Notes;

  constructor(route: Route, notes: Notes) {
    this.#route = route;
    this.#origin = originOf(route.upstream);
    this.#notes = notes;
  }

  open(body: JsonObject): JsonObject {
    return this.#value(body) as JsonObject;
  }

  #value(value: JsonValue | undefined): Opened {
    if (Array.isArray(value)) return this.#list(value);
    // A long number is an object as well, and is good for nothing but being written.
    if (!isJsonObject(value) || JSON.isRawJSON(value)) return value;
    const sealed = sealedMember(value);
    return sealed === undefined ? this.#members(value) : this.#sealed(value, sealed);
  }

  /** A list of nothing but what was sealed elsewhere is not there at all: vendors refuse empty ones. */
  #list(value: readonly JsonValue[]): Opened {
    const kept = value.map((entry) => this.#value(entry)).filter((entry) => entry !== dropped) as JsonValue[];
    return kept.length === 0 && value.length > 0 ? dropped : kept;
  }

  #members(value: JsonObject): Opened {
    const entries = Object.entries(value).map(([name, member]) => [name, this.#value(member)] as const);
    const isSilent = entries.some(([name, member]) => member === dropped && contentNames.has(name));
    // A message that was nothing but thoughts goes with them.
    if (isSilent && value['role'] !== undefined) return dropped;
    return Object.fromEntries(entries.filter(([, member]) => member !== dropped)) as JsonObject;
  }

  #sealed(value: JsonObject, { name, state }: SealedMember): Opened {
    if (state.origin === this.#origin && state.kind !== 'none') return { ...value, [name]: state.data };
    if (isPartSeal(name)) return this.#unsealPart(value, name, state);
    this.#notes.drop('reasoning of another upstream');
    return dropped;
  }

  /** A part says more than its seal: it stays, unless it is there for nothing else. */
  #unsealPart(value: JsonObject, name: string, { kind }: OpaqueState): Opened {
    if (kind !== 'none') this.#notes.drop('reasoning of another upstream');
    const { [name]: _, ...part } = value;
    const isCall = part['functionCall'] !== undefined || part['function_call'] !== undefined;
    if (isCall && demandsSignatures(this.#route.profile)) return { ...part, [name]: skipValidation };
    return part['text'] === '' ? dropped : part;
  }
}

/** Looks at members, not at characters: a prompt has few of the one and many of the other. */
function hasSeals(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasSeals);
  if (!isJsonObject(value)) return false;
  if (sealedMember(value) !== undefined) return true;
  for (const name in value) if (hasSeals(value[name])) return true;
  return false;
}

interface SealedMember {
  readonly name: string;
  readonly state: OpaqueState;
}

/** Members in which the formats keep sealed reasoning. `data` is that of a redacted block. */
const readers: Readonly<Record<string, (text: string) => OpaqueState | undefined>> = {
  signature: readTaggedState,
  encrypted_content: readTaggedState,
  data: readTaggedState,
  thoughtSignature: decodeSignature,
  thought_signature: decodeSignature,
};
const stateNames = Object.keys(readers);

function isPartSeal(name: string): boolean {
  return readers[name] === decodeSignature;
}

function sealedMember(value: JsonObject): SealedMember | undefined {
  for (const name of stateNames) {
    const text = value[name];
    const state = typeof text === 'string' ? readers[name]?.(text) : undefined;
    if (state !== undefined) return { name, state };
  }
  return undefined;
}
