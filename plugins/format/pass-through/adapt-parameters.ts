import type { Route } from '#core/catalog/catalog.ts';
import type { Format, TextFormat } from '#core/catalog/formats.ts';
import { isJsonObject, type JsonObject } from '#core/json.ts';
import type { Traits } from '#core/catalog/traits.ts';
import type { Notes } from '../canonical/notes.ts';
import { originOf } from '../canonical/opaque-state.ts';
import { noteCutting } from '../canonical/stop-cutter.ts';
import { switchGeneration } from '../gemini/adapt-generation.ts';
import { switchDialogue } from './adapt-dialogue.ts';
import { switchMedia } from './adapt-media.ts';
import { isSaid, without } from './adapt-members.ts';
import { switchOutput } from './adapt-output-format.ts';
import type { SwitchTarget } from './adaptation-probe.ts';
import { switchReasoning } from './adapt-reasoning.ts';
import { switchTools } from './adapt-tools.ts';
import { toldStops } from './reported-stops.ts';
import { isTextFormat } from '../translation/upstream-format.ts';

const samplingNames = ['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty'];
/** What each format calls the limit of an answer. */
const limitNames = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];

/** Switches for what a request asks for; each returns the very same body when it has nothing to do. */
const switches = [switchMedia, switchTools, switchReasoning, switchOutput];
/** What each format calls the end user. */
const userNames: Readonly<Record<TextFormat, readonly string[]>> = {
  chat: ['user', 'safety_identifier'],
  responses: ['user', 'safety_identifier'],
  messages: ['metadata'],
  gemini: [],
};

/**
 * What a route is known to refuse is taken out or said differently, also where the format is the client's own: a backup
 * of another vendor is none if it answers 400. Returns the very same body when there is nothing to do, as a rule.
 *
 * @throws GatewayError `not_supported` when the route cannot serve the request, `invalid_request` when what would have
 *   to be said differently cannot be understood
 */
export function applySwitches(format: Format, body: JsonObject, route: Route, notes: Notes): JsonObject {
  if (!isTextFormat(format)) return body;
  const { traits, upstream } = route;
  const target = { traits, notes, origin: originOf(upstream) };
  const switched = switches.reduce(
    (before, change) => change(format, before, target),
    withParameters(format, body, target),
  );
  return format === 'chat' ? switchDialogue(switched, traits) : switched;
}

function withParameters(format: TextFormat, body: JsonObject, { traits, notes }: SwitchTarget): JsonObject {
  const { parameters } = traits;
  if (format === 'gemini') return switchGeneration(body, traits, notes);
  let switched = withLimit(body, traits, notes);
  if (!parameters.sampling) switched = without(switched, samplingNames, notes);
  if (!parameters.end_user) switched = without(switched, userNames[format], notes);
  if (format !== 'chat') return switched;
  switched = withStops(withLimitName(switched, traits), traits, notes);
  if (!parameters.stream_usage) switched = without(switched, ['stream_options'], notes);
  switched = withSeedName(switched, parameters.seed_name);
  return parameters.system_role === 'system' ? withoutDeveloper(switched) : switched;
}

function withSeedName(body: JsonObject, wanted: string): JsonObject {
  const { seed, ...rest } = body;
  return wanted === 'seed' || !isSaid(seed) ? body : { [wanted]: seed, ...rest };
}

/** True when a single answer is asked for, which can be read and written anew. */
export function isOneAnswer({ n }: JsonObject): boolean {
  return typeof n !== 'number' || n <= 1;
}

function withLimit(body: JsonObject, { parameters }: Traits, notes: Notes): JsonObject {
  const most = parameters.max_output_tokens;
  if (most === undefined) return body;
  let limited = body;
  for (const name of limitNames) {
    const value = body[name];
    if (typeof value !== 'number' || value <= most) continue;
    notes.approximate(`${name} as ${most}`);
    limited = { ...limited, [name]: most };
  }
  return limited;
}

function withLimitName(body: JsonObject, { parameters }: Traits): JsonObject {
  const wanted = parameters.max_tokens_name;
  const other = wanted === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  if (body[other] === undefined) return body;
  const { [other]: value, ...rest } = body;
  return rest[wanted] === undefined ? { ...rest, [wanted]: value } : rest;
}

/** What a route takes of the stop sequences; the others are looked for in the answer, if it is one alone. */
function withStops(body: JsonObject, { parameters }: Traits, notes: Notes): JsonObject {
  const stops = toldStops.chat(body);
  if (stops.length <= parameters.stop) return body;
  if (isOneAnswer(body)) noteCutting(notes);
  else notes.drop('stop');
  const { stop: _, ...rest } = body;
  return parameters.stop === 0 ? rest : { ...rest, stop: stops.slice(0, parameters.stop) };
}

/** `developer` is what newer OpenAI models call `system`; nobody else knows it. */
function withoutDeveloper(body: JsonObject): JsonObject {
  const { messages } = body;
  if (!Array.isArray(messages) || !messages.some(isDeveloper)) return body;
  const renamed = messages.map((message) =>
    isJsonObject(message) && isDeveloper(message) ? { ...message, role: 'system' } : message,
  );
  return { ...body, messages: renamed };
}

function isDeveloper(message: unknown): boolean {
  return isJsonObject(message) && message['role'] === 'developer';
}
