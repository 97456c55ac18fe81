import type { JsonObject } from '#core/platform/json.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

/** Schema's names of body members, by the names that commands and gateway.yaml use: `--days`, `from`. */
const schemaNames: Readonly<Record<string, string>> = { days: 'days_back', from: 'since' };

/** Renames a body's members to the schema's names. Accepts names from commands and gateway.yaml, and `text: { en, id }`. */
export function renameMembers({ properties = {} }: JsonSchema, input: JsonObject): JsonObject {
  const entries = Object.entries(input).flatMap(([name, value]): [string, unknown][] => {
    if (name in properties) return [[name, value]];
    if (name === 'text' && 'text_en' in properties && typeof value === 'object' && value !== null)
      return Object.entries(value).map(([language, text]) => [`text_${language}`, text]);
    const schemaName = schemaNames[name];
    return [
      [schemaName !== undefined && schemaName in properties && !(schemaName in input) ? schemaName : name, value],
    ];
  });
  return Object.fromEntries(entries) as JsonObject;
}
