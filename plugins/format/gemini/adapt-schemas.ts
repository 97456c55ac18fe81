import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Notes } from '../canonical/notes.ts';
import { mapEntries, mapMembers } from '../pass-through/adapt-members.ts';
import type { Adaptation } from '../pass-through/adaptation.ts';
import { cleanSchema } from './clean-schema.ts';
import { camelName } from './fields.ts';

/** Names of members with a JSON Schema, and those of the same in the subset of OpenAPI. */
const subsetNames: ReadonlyMap<string, string> = new Map([
  ['parametersJsonSchema', 'parameters'],
  ['responseJsonSchema', 'responseSchema'],
  ['_responseJsonSchema', 'responseSchema'],
]);
/** Where schemas are, from the top. */
const holders: ReadonlySet<string> = new Set(['tools', 'functionDeclarations', 'generationConfig']);

/** Writes JSON Schemas in the subset where the route knows no other. Returns the very same body when it has none. */
export const adaptSchemas: Adaptation = (body, { profile, notes }) =>
  profile.quirks.tool_schema === 'subset' ? withSubsets(body, notes) : body;

function withSubsets(object: JsonObject, notes: Notes): JsonObject {
  const changed = mapMembers(object, (name, value) => (holders.has(camelName(name)) ? inside(value, notes) : value));
  const names = Object.keys(changed).filter((name) => subsetNames.has(camelName(name)));
  if (names.length === 0) return changed;
  const members = Object.entries(changed).flatMap(([name, value]) => {
    const subset = subsetNames.get(camelName(name));
    if (subset === undefined || !isJsonObject(value)) return [[name, value] as const];
    const schema = cleanSchema(value, notes);
    // An object schema without properties is refused.
    return schema['type'] === 'object' && schema['properties'] === undefined ? [] : [[subset, schema] as const];
  });
  return Object.fromEntries(members);
}

function inside(value: JsonValue, notes: Notes): JsonValue {
  if (Array.isArray(value)) return mapEntries(value, (entry) => inside(entry, notes));
  return isJsonObject(value) ? withSubsets(value, notes) : value;
}
