import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { GeminiSchema } from '../wire/gemini.ts';
import type { Editable } from '../wire/loose.ts';
import { withoutUndefined } from '../wire/members.ts';

/** Resolves a `$ref` within the same document. Source: RFC 6901. */
export function findReference(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#')) return undefined;
  let value: JsonValue | undefined = root;
  for (const step of reference.split('/').slice(1)) {
    const name = decodeStep(step);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return isJsonObject(value) ? value : undefined;
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}

export const alternativeKeywords = ['anyOf', 'oneOf'] as const;

const stricterLimits = new Map<keyof GeminiSchema, (a: number, b: number) => number>([
  ...(['minimum', 'minLength', 'minItems', 'exclusiveMinimum'] as const).map((name) => [name, Math.max] as const),
  ...(['maximum', 'maxLength', 'maxItems', 'exclusiveMaximum'] as const).map((name) => [name, Math.min] as const),
]);

/** Combines the rules of two schemas. If both set a keyword whose values cannot be merged, the second wins. */
export function mergeSchemas(first: GeminiSchema, second: GeminiSchema): JsonObject {
  const mergedSchema: Editable<GeminiSchema> = { ...first, ...second };
  const properties = mergeProperties(first.properties, second.properties);
  if (properties !== undefined) mergedSchema.properties = properties;
  if (Array.isArray(first.required) && Array.isArray(second.required)) {
    mergedSchema.required = [...new Set([...first.required, ...second.required])];
  }
  for (const [name, pickStricter] of stricterLimits) {
    const [a, b] = [first[name], second[name]];
    if (typeof a === 'number' && typeof b === 'number') mergedSchema[name] = pickStricter(a, b);
  }
  const description = mergeDescriptions(first.description, second.description);
  return mergeAlternatives(first, second, description === undefined ? mergedSchema : { ...mergedSchema, description });
}

function mergeDescriptions(first: JsonValue | undefined, second: JsonValue | undefined): string | undefined {
  if (typeof first !== 'string' || typeof second !== 'string' || first === second) return undefined;
  return `${second}\n${first}`;
}

function mergeAlternatives(first: GeminiSchema, second: GeminiSchema, merged: GeminiSchema): JsonObject {
  const hasBoth = [first, second].every((schema) => alternativeKeywords.some((name) => Array.isArray(schema[name])));
  if (!hasBoth) return merged;
  const { anyOf: _, oneOf: __, ...others } = merged;
  const { anyOf, oneOf } = second;
  const firstAlternatives = alternativeKeywords.flatMap((name) =>
    Array.isArray(first[name]) ? [JSON.stringify(first[name])] : [],
  );
  return appendDescription(
    { ...others, ...withoutUndefined({ anyOf, oneOf }) },
    `also one of ${firstAlternatives.join(' and one of ')}`,
  );
}

function mergeProperties(first: JsonValue | undefined, second: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(first) || !isJsonObject(second)) return undefined;
  const mergedProperties = new Map(Object.entries(first));
  for (const [name, value] of Object.entries(second)) {
    const existing = mergedProperties.get(name);
    mergedProperties.set(name, isJsonObject(existing) && isJsonObject(value) ? { allOf: [existing, value] } : value);
  }
  return Object.fromEntries(mergedProperties);
}

export function appendDescription(schema: GeminiSchema, text: string, separator = '\n'): JsonObject {
  const { description } = schema;
  const isDescribed = typeof description === 'string' && description !== '';
  return { ...schema, description: isDescribed ? description + separator + text : text };
}
