import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { choices, mergeSchemas } from '../../../canonical/merge-schemas.ts';
import type { GeminiSchema } from '../../../wire/gemini.ts';

/** `[T, "null"]` becomes a nullable T; several types become alternatives. */
export function splitTypes(schema: GeminiSchema): JsonObject {
  const { type, ...rest } = schema;
  if (!Array.isArray(type)) return schema;
  const types = [...new Set(type)].filter((one) => typeof one === 'string' && one !== 'null');
  const nullable = type.includes('null') ? { nullable: true } : {};
  const [only, ...others] = types;
  if (others.length === 0) return { ...rest, ...(only !== undefined && { type: only }), ...nullable };
  return mergeSchemas({ ...rest, ...nullable }, { anyOf: types.map((one) => ({ type: one })) });
}

/**
 * Alternatives in the subset have no siblings, so sibling keywords move into each alternative. A single alternative
 * replaces the schema, and null makes it nullable.
 */
export function distributeAnyOf(schema: GeminiSchema): JsonObject {
  const name = choices.find((one) => Array.isArray(schema[one]) && schema[one].length > 0);
  const listed = name === undefined ? undefined : schema[name];
  if (name === undefined || !Array.isArray(listed)) return schema;
  const { [name]: _, description, nullable, ...beside } = schema;
  const branches = listed.map((entry) => (isJsonObject(entry) ? entry : {}));
  const some = branches.filter(({ type }: GeminiSchema) => type !== 'null');
  const head = {
    ...(description !== undefined && { description }),
    ...((nullable === true || some.length < branches.length) && { nullable: true }),
  };
  const [only, ...others] = some;
  if (only === undefined) return distributeAnyOf({ ...beside, ...head, type: 'null' });
  if (others.length === 0) return distributeAnyOf(splitTypes(mergeSchemas({ ...beside, ...head }, only)));
  return { ...head, anyOf: some.map((branch) => mergeSchemas(beside, branch)) };
}
