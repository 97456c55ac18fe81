import { isJsonObject, type JsonObject } from '#core/json.ts';

/** Stands in the place of an image that the model cannot see. */
export const omittedImage = '[image omitted: this model takes no images]';

type Change = (value: JsonObject) => JsonObject;

/** Puts a text in the place of a part that is an image. */
export function replacing(type: string, textType: string): Change {
  return (part) => {
    if (part['type'] !== type) return part;
    const { cache_control } = part;
    return { type: textType, text: omittedImage, ...(cache_control !== undefined && { cache_control }) };
  };
}

/** Changes the objects of a list; the very same value when nothing has changed. */
export function within(value: JsonObject, name: string, change: Change): JsonObject {
  const list = value[name];
  if (!Array.isArray(list)) return value;
  const changed = list.map((entry) => (isJsonObject(entry) ? change(entry) : entry));
  return changed.every((entry, index) => entry === list[index]) ? value : { ...value, [name]: changed };
}
