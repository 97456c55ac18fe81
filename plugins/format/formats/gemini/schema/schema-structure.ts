import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { alternativeKeywords, mergeSchemas } from '../../../canonical/merge-schemas.ts';
import type { GeminiSchema } from '../../../wire/gemini.ts';

/** Splits a list of types: `[T, "null"]` becomes a nullable T, and several types become alternatives. */
export function splitTypes(schema: GeminiSchema): JsonObject {
  const { type: typeList, ...members } = schema;
  if (!Array.isArray(typeList)) return schema;
  const types = [...new Set(typeList)].filter((type) => typeof type === 'string' && type !== 'null');
  const nullable = typeList.includes('null') ? { nullable: true } : {};
  const [only, ...others] = types;
  if (others.length === 0) return { ...members, ...(only !== undefined && { type: only }), ...nullable };
  return mergeSchemas({ ...members, ...nullable }, { anyOf: types.map((type) => ({ type })) });
}

/**
 * Moves the siblings of alternatives into each alternative, because the subset does not allow siblings. A single alternative replaces the
 * schema, and null makes it nullable.
 */
export function distributeAnyOf(schema: GeminiSchema): JsonObject {
  const keyword = alternativeKeywords.find((choice) => Array.isArray(schema[choice]) && schema[choice].length > 0);
  const alternatives = keyword === undefined ? undefined : schema[keyword];
  if (keyword === undefined || !Array.isArray(alternatives)) return schema;
  const { [keyword]: _, description, nullable, ...siblings } = schema;
  const branches = alternatives.map((entry) => (isJsonObject(entry) ? entry : {}));
  const nonNull = branches.filter(({ type }: GeminiSchema) => type !== 'null');
  const head = {
    ...(description !== undefined && { description }),
    ...((nullable === true || nonNull.length < branches.length) && { nullable: true }),
  };
  const [only, ...others] = nonNull;
  if (only === undefined) return distributeAnyOf({ ...siblings, ...head, type: 'null' });
  if (others.length === 0) return distributeAnyOf(splitTypes(mergeSchemas({ ...siblings, ...head }, only)));
  return { ...head, anyOf: nonNull.map((branch) => mergeSchemas(siblings, branch)) };
}
