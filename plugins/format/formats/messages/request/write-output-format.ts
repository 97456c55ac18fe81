import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { OutputFormat } from '../../../canonical/conversation.ts';
import { instructionFor } from '../../../canonical/output-format.ts';
import type { MessagesOutputFormat } from '../../../wire/messages.ts';

/** How an output format is requested: by a parameter or an instruction. */
export interface WrittenOutputFormat {
  readonly format?: MessagesOutputFormat;
  /** Goes after all other instructions. */
  readonly instruction?: string;
}

/** Requests JSON in the strictest way that the model supports. Source: Anthropic docs, "Structured outputs". */
export function writeFormat(output: OutputFormat | undefined, { profile, notes }: EncodeTarget): WrittenOutputFormat {
  if (output === undefined) return {};
  if (output.type === 'json_object') {
    notes.approximate('json_object as instruction');
    return { instruction: instructionFor(output) };
  }
  if (profile.capabilities.structured_output !== 'schema') {
    notes.approximate('json_schema as instruction');
    return { instruction: instructionFor(output) };
  }
  const closed = closeObjects(output.schema);
  if (JSON.stringify(closed) !== JSON.stringify(output.schema)) notes.approximate('additionalProperties as false');
  return { format: { type: 'json_schema', schema: closed } };
}

/** Keywords that contain schemas: one, a list, or a map. */
const holders = new Set(['items', 'anyOf', 'oneOf', 'allOf', 'not', 'prefixItems']);
const namedHolders = new Set(['properties', '$defs', 'definitions', 'patternProperties']);

/** Objects must forbid additional properties. */
function closeObjects(schema: JsonObject): JsonObject {
  const closed: JsonObject = {};
  for (const [name, value] of Object.entries(schema)) {
    if (holders.has(name)) closed[name] = closeValue(value);
    else if (namedHolders.has(name) && isJsonObject(value)) closed[name] = closeMembers(value);
    else closed[name] = value;
  }
  const isObject = isObjectType(schema['type']) || isJsonObject(schema['properties']);
  return isObject ? { ...closed, additionalProperties: false } : closed;
}

function isObjectType(type: JsonValue | undefined): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}

function closeValue(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((entry) => (isJsonObject(entry) ? closeObjects(entry) : entry));
  return isJsonObject(value) ? closeObjects(value) : value;
}

function closeMembers(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, closeValue(value)]));
}
