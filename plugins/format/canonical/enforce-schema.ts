import { type JsonObject, type JsonValue, isJsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from './codec.ts';
import type { ClientTool, Strictness } from './conversation.ts';
import { fitSchema, describesObject } from './fit-schema.ts';
import { Notes } from './notes.ts';
import { toObjectSchema } from './object-schema.ts';
import { schemaKeywords, schemaMapKeywords, type SchemaSubset } from './schema-subsets.ts';
import { wantsEnforcedInput } from './tools.ts';

interface EnforcedSchema {
  readonly schema: JsonObject;
  readonly isStrict: boolean;
}

/**
 * Prepares the schema of structured output for a vendor.
 *
 * @param subset undefined if the vendor accepts any schema
 * @returns undefined if the vendor cannot enforce the schema; the model can then only be instructed to follow it
 */
export function enforceSchema(
  schema: JsonObject,
  strict: Strictness | undefined,
  subset: SchemaSubset | undefined,
  notes: Notes,
): EnforcedSchema | undefined {
  if (subset === undefined) return { schema, isStrict: strict === true };
  const isCompiled = subset.isAlwaysEnforced || Boolean(strict);
  const fittedSchema = isCompiled ? fitForVendor(schema, strict, subset, notes) : undefined;
  if (fittedSchema !== undefined) return fittedSchema;
  if (subset.isAlwaysEnforced || (subset.requiresRootObject === true && !describesObject(schema))) return undefined;
  if (isCompiled) notes.approximate('json_schema as a hint');
  return { schema, isStrict: false };
}

function fitForVendor(
  schema: JsonObject,
  strict: Strictness | undefined,
  subset: SchemaSubset,
  notes: Notes,
): EnforcedSchema | undefined {
  const schemaNotes = new Notes();
  const mustBeComplete = subset.requiresAllProperties === true && strict === 'fitting';
  const fittedSchema = fitSchema(schema, subset, schemaNotes, mustBeComplete ? 'unspecified' : undefined);
  if (fittedSchema === undefined || (subset.requiresRootObject === true && !isPlainObject(fittedSchema)))
    return undefined;
  if (mustBeComplete && !isStrictSchema(fittedSchema)) return undefined;
  notes.addAll(schemaNotes);
  return { schema: fittedSchema, isStrict: strict === true || mustBeComplete };
}

function isPlainObject(schema: JsonObject): boolean {
  return describesObject(schema) && schema['anyOf'] === undefined;
}

function isStrictSchema(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.every(isStrictSchema);
  if (!isJsonObject(value)) return true;
  const { properties, required, additionalProperties } = value;
  if (describesObject(value)) {
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    const requiresAll = names.every((name) => Array.isArray(required) && required.includes(name));
    if (additionalProperties !== false || !requiresAll) return false;
  }
  return Object.entries(value).every(([name, inner]) => {
    if (schemaMapKeywords.has(name) && isJsonObject(inner)) return Object.values(inner).every(isStrictSchema);
    return !schemaKeywords.has(name) || isStrictSchema(inner);
  });
}

interface EnforcedInput {
  readonly schema: JsonObject;
  readonly strict: boolean | undefined;
}

export function enforceInput(
  tool: ClientTool,
  schema: JsonObject | undefined,
  subset: SchemaSubset | undefined,
  { profile, notes }: Pick<EncodeTarget, 'profile' | 'notes'>,
): EnforcedInput {
  const input = toObjectSchema(schema, subset?.refusesToolAlternatives === true, notes);
  const { strict } = tool;
  if (subset !== undefined && wantsEnforcedInput(tool) && profile.quirks.strict_tools) {
    const fittedSchema = fitForVendor(input, strict, subset, notes);
    if (fittedSchema === undefined) notes.drop('strict of tools');
    return { schema: fittedSchema?.schema ?? input, strict: fittedSchema !== undefined };
  }
  const isCompiled = subset?.compilesEveryTool === true;
  return {
    schema: (isCompiled ? fitSchema(input, subset, notes) : undefined) ?? input,
    strict: strict && wantsEnforcedInput(tool),
  };
}
