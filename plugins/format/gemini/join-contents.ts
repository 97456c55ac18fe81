import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/**
 * Joins contents of one side that became adjacent because a content between them was left out: user and model must
 * alternate. Returns the same body when nothing was left out.
 *
 * @param before the same request, with everything in it
 */
export function joinContents(body: JsonObject, before: JsonObject): JsonObject {
  const { contents } = body;
  const count = Array.isArray(before['contents']) ? before['contents'].length : 0;
  if (!Array.isArray(contents) || contents.length === count) return body;
  const joined: JsonValue[] = [];
  for (const content of contents) {
    const both = join(joined.at(-1), content);
    if (both === undefined) joined.push(content);
    else joined[joined.length - 1] = both;
  }
  return { ...body, contents: joined };
}

/** Undefined for contents of different sides. */
function join(last: JsonValue | undefined, next: JsonValue): JsonObject | undefined {
  if (!isJsonObject(last) || !isJsonObject(next) || last['role'] !== next['role']) return undefined;
  const [before, after] = [last['parts'], next['parts']];
  return Array.isArray(before) && Array.isArray(after) ? { ...last, parts: [...before, ...after] } : undefined;
}
