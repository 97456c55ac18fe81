import type { JsonObject } from '#core/platform/json.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

/** Names in commands and gateway.yaml for body members: `--days`, `from`. */
const otherNames: Readonly<Record<string, string>> = { days: 'days_back', from: 'since' };

/** The body of a call under the names of its schema. The names of the command and of gateway.yaml are accepted too, as is `text: { en, id }`. */
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
