import type { JsonSchema } from '#core/platform/schema.ts';

const variable: JsonSchema = { type: 'string', pattern: '\\$\\{[A-Za-z_]', description: 'A variable.' };

/** Returns the schema for editors, which also allows `${NAME}` in place of a number, an enum value or a constrained string. */
export function allowVariables(schema: JsonSchema): JsonSchema {
  if (rejectsVariables(schema)) return addVariable(schema);
  const { properties, additionalProperties, items, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties !== undefined && { properties: mapValues(properties, allowVariables) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: allowVariables(additionalProperties) }),
    ...(items !== undefined && { items: allowVariables(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(allowVariables) }),
    ...(oneOf !== undefined && { oneOf: oneOf.map(allowVariables) }),
  };
}

/** Returns the schema for a value that may be left empty, such as a section with defaults of which only the name is written. */
export function allowNull(schema: JsonSchema): JsonSchema {
  const { type, anyOf } = schema;
  if (type !== undefined) return { ...schema, type: [...[type].flat(), 'null'] };
  return anyOf === undefined ? schema : { ...schema, anyOf: [...anyOf, { type: 'null' }] };
}

function addVariable({ description, default: fallback, examples, ...otherKeywords }: JsonSchema): JsonSchema {
  return {
    // Outside the alternatives, because editors look for the description there.
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
    ...(examples !== undefined && { examples }),
    anyOf: [otherKeywords, variable],
  };
}

function rejectsVariables({ type, enum: enumValues, pattern, minLength, maxLength }: JsonSchema): boolean {
  const types = [type].flat();
  if (types.some((name) => name === 'number' || name === 'integer' || name === 'boolean')) return true;
  const isLimited = [enumValues, pattern, minLength, maxLength].some((limit) => limit !== undefined);
  return types.includes('string') && isLimited;
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, mapValue: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, mapValue(value)]));
}
