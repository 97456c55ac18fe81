import type { JsonSchema } from '#core/platform/schema.ts';

const variable: JsonSchema = { type: 'string', pattern: '\\$\\{[A-Za-z_]', description: 'A variable.' };

/** Returns the schema for editors, where `${NAME}` is allowed wherever a number, a choice or a constrained string is. */
export function allowVariables(schema: JsonSchema): JsonSchema {
  if (isNarrow(schema)) return orVariable(schema);
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

/** Returns the schema of a value that may be empty, such as a section with defaults whose name alone is written. */
export function allowNull(schema: JsonSchema): JsonSchema {
  const { type, anyOf } = schema;
  if (type !== undefined) return { ...schema, type: [...[type].flat(), 'null'] };
  return anyOf === undefined ? schema : { ...schema, anyOf: [...anyOf, { type: 'null' }] };
}

/** Allows a variable as an alternative. The description stays outside of the alternatives, where editors look for it. */
function orVariable({ description, default: fallback, examples, ...rest }: JsonSchema): JsonSchema {
  return {
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
    ...(examples !== undefined && { examples }),
    anyOf: [rest, variable],
  };
}

function isNarrow({ type, enum: choices, pattern, minLength, maxLength }: JsonSchema): boolean {
  const types = [type].flat();
  if (types.some((one) => one === 'number' || one === 'integer' || one === 'boolean')) return true;
  const isLimited = [choices, pattern, minLength, maxLength].some((limit) => limit !== undefined);
  return types.includes('string') && isLimited;
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
