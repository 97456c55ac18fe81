import type { Route } from '#core/catalog/catalog.ts';
import type { Format } from '#core/catalog/formats.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { Notes } from '../canonical/notes.ts';
import { originOf, readTaggedState } from '../canonical/opaque-state.ts';
import type { OpaqueState } from '../canonical/conversation.ts';
import { type ClientRequest, exactBody } from '../request/client-request.ts';
import { joinContents } from '../gemini/join-contents.ts';
import { demandsSignatures, readSeal, skipValidation } from '../gemini/thought-signature.ts';
import { settleThinking } from '../messages/settle-thinking.ts';
import { applySwitches, isOneAnswer } from './adapt-parameters.ts';
import { rewriteModel } from './rewrite-model.ts';
import { toldStops } from './reported-stops.ts';

export interface AmendedRequest {
  readonly body: Buffer | string;
  readonly notes?: readonly string[];
  /** Stop sequences of a Chat request that the route does not take; the answer has to be cut at them. */
  readonly untold?: readonly string[];
}

/**
 * A request in the client's format, as a route of that format gets it. As a rule only the model's name is another;
 * every other byte is what the client sent.
 *
 * @throws GatewayError `not_supported`, `invalid_request`, see `applySwitches`
 */
export function amendRequest(client: ClientRequest, route: Route): AmendedRequest {
  return amendBody(client, client.body, route);
}

function amendBody(client: ClientRequest, parsed: JsonObject, route: Route): AmendedRequest {
  const { format, text, isStream } = client;
  const notes = new Notes();
  const switched = applySwitches(format, parsed, route, notes);
  const opened = hasSeals(parsed) ? new SealOpener(route, notes).open(switched) : switched;
  const said = settle(format, opened, parsed, notes);
  const settled = client.purpose === 'count' && format === 'gemini' ? nameCounted(said, route.model) : said;
  if (settled === parsed) {
    const body = format === 'gemini' ? client.bytes : rewriteModel(client.bytes, text, parsed, route.model);
    return { body: format === 'chat' && isStream ? askForUsage(body, parsed, route) : body };
  }
  // Written anew, inputs of calls would lose what no double can say.
  const exact = parsed === client.body ? exactBody(client) : parsed;
  if (exact !== parsed) return amendBody(client, exact, route);
  const named = format === 'gemini' ? settled : { ...settled, model: route.model };
  const asked = format === 'chat' && isStream && wantsUsage(named, route) ? { ...usageOption, ...named } : named;
  return { body: JSON.stringify(asked), notes: notes.entries, ...(format === 'chat' && untoldIn(parsed, asked)) };
}

function untoldIn(wanted: JsonObject, sent: JsonObject): Pick<AmendedRequest, 'untold'> {
  const told = toldStops.chat(sent);
  const untold = isOneAnswer(wanted) ? toldStops.chat(wanted).filter((sequence) => !told.includes(sequence)) : [];
  return untold.length === 0 ? {} : { untold };
}

/** What a format wants of a conversation out of which something was left. */
function settle(format: Format, opened: JsonObject, parsed: JsonObject, notes: Notes): JsonObject {
  if (format === 'messages') return settleThinking(opened, notes);
  return format === 'gemini' ? joinContents(opened, parsed) : opened;
}

/** Google's counting takes a request inside of another, which names the model once more. */
function nameCounted(body: JsonObject, model: string): JsonObject {
  for (const name of ['generateContentRequest', 'generate_content_request']) {
    const packed = body[name];
    if (isJsonObject(packed)) return { ...body, [name]: { ...packed, model: `models/${model}` } };
  }
  return body;
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
    if (isCall && demandsSignatures(this.#route.traits)) return { ...part, [name]: skipValidation };
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
  thoughtSignature: readSeal,
  thought_signature: readSeal,
};
const sealNames = Object.keys(readers);

function isPartSeal(name: string): boolean {
  return readers[name] === readSeal;
}

function sealedMember(value: JsonObject): SealedMember | undefined {
  for (const name of sealNames) {
    const text = value[name];
    const state = typeof text === 'string' ? readers[name]?.(text) : undefined;
    if (state !== undefined) return { name, state };
  }
  return undefined;
}
