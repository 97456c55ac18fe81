import type { JsonObject } from '#core/platform/json.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

/** Names that commands and gateway.yaml use for body members: `--days`, `from`. */
const otherNames: Readonly<Record<string, string>> = { days: 'days_back', from: 'since' };

/** Renames a body's members to the schema's names. Names from commands and gateway.yaml are valid too, as is `text: { en, id }`. */
export function withOwnNames({ properties = {} }: JsonSchema, input: JsonObject): JsonObject {
  const entries = Object.entries(input).flatMap(([name, value]): [string, unknown][] => {
    if (name in properties) return [[name, value]];
    if (name === 'text' && 'text_en' in properties && typeof value === 'object' && value !== null)
      return Object.entries(value).map(([language, text]) => [`text_${language}`, text]);
    const own = otherNames[name];
    return [[own !== undefined && own in properties && !(own in input) ? own : name, value]];
  });
  return Object.fromEntries(entries) as JsonObject;
}
