import type { JsonObject } from '#core/platform/json.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

const schemaNamesByAlias: Readonly<Record<string, string>> = { days: 'days_back', from: 'since' };

/**
 * Renames a body's fields to those of the schema. Accepts the names that commands and gateway.yaml use (`days`, `from`), and a `text`
 * object with `en` and `id`.
 */
export function renameMembers({ properties = {} }: JsonSchema, input: JsonObject): JsonObject {
  const entries = Object.entries(input).flatMap(([name, value]): [string, unknown][] => {
    if (name in properties) return [[name, value]];
    if (name === 'text' && 'text_en' in properties && typeof value === 'object' && value !== null)
      return Object.entries(value).map(([language, text]) => [`text_${language}`, text]);
    const schemaName = schemaNamesByAlias[name];
    return [
      [schemaName !== undefined && schemaName in properties && !(schemaName in input) ? schemaName : name, value],
    ];
  });
  return Object.fromEntries(entries) as JsonObject;
}
