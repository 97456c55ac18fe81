import { isJsonObject, type JsonObject } from '#core/json.ts';
import type { Traits } from '#core/traits.ts';
import type { Notes } from './canonical/notes.ts';
import { noteCutting } from './canonical/stop-cutter.ts';
import type { ClientRequest } from './client-request.ts';
import { switchGeneration } from './gemini/generation-switches.ts';
import { toldStops } from './told-stops.ts';

const samplingNames = ['temperature', 'top_p', 'top_k', 'presence_penalty', 'frequency_penalty'];
/** What each format calls the limit of an answer. */
const limitNames = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];

/**
 * What a route is known to refuse is taken out or renamed, also where the format is the client's own: a backup of
 * another vendor is none if it answers 400. Returns the very same body when there is nothing to do, as a rule.
 */
export function applySwitches({ format, body }: ClientRequest, traits: Traits, notes: Notes): JsonObject {
  if (format === 'images') return body;
  if (format === 'gemini') return switchGeneration(body, traits, notes);
  let switched = withLimit(body, traits, notes);
  if (!traits.parameters.sampling) switched = without(switched, samplingNames, notes);
  if (format !== 'chat') return switched;
  switched = withStops(withLimitName(switched, traits), traits, notes);
  if (!traits.parameters.stream_usage) switched = without(switched, ['stream_options'], notes);
  if (!traits.parameters.parallel_switch) switched = without(switched, ['parallel_tool_calls'], notes);
  if (!traits.parameters.end_user) switched = without(switched, ['user', 'safety_identifier'], notes);
  return traits.parameters.system_role === 'system' ? withoutDeveloper(switched) : switched;
}

/** True when a single answer is asked for, which can be read and written anew. */
export function isOneAnswer({ n }: JsonObject): boolean {
  return typeof n !== 'number' || n <= 1;
}

function without(body: JsonObject, names: readonly string[], notes: Notes): JsonObject {
  const found = names.filter((name) => body[name] !== undefined && body[name] !== null);
  if (found.length === 0) return body;
  for (const name of found) notes.drop(name);
  return Object.fromEntries(Object.entries(body).filter(([name]) => !found.includes(name)));
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
