import type { JsonSchema } from '../schema.ts';

/** A value that is filled in when the file is loaded; what it will be, an editor cannot know. */
const variable: JsonSchema = { type: 'string', pattern: '\\$\\{[A-Za-z_]', description: 'A variable.' };

/** The schema as an editor needs it: `${NAME}` may stand wherever a number, a choice or a text of some form does. */
export function allowVariables(schema: JsonSchema): JsonSchema {
  if (isNarrow(schema)) return besideVariable(schema);
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

/** The schema of something that may be left empty: of a section with defaults only its name, for instance. */
export function allowNothing(schema: JsonSchema): JsonSchema {
  const { type, anyOf } = schema;
  if (type !== undefined) return { ...schema, type: [...[type].flat(), 'null'] };
  return anyOf === undefined ? schema : { ...schema, anyOf: [...anyOf, { type: 'null' }] };
}

/** What an editor shows stays outside of the alternatives, where it looks for it. */
function besideVariable({ description, default: fallback, examples, ...rest }: JsonSchema): JsonSchema {
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
