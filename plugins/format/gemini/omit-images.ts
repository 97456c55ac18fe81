import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { omittedImage, within } from '../request/replace-images.ts';

/** The body without the images in tool results. */
export function omitResultImages(body: JsonObject): JsonObject {
  return within(body, 'contents', (content) => within(content, 'parts', fromPart));
}

/** The parts of a result cannot be texts: the object that the tool has answered with says it. */
function fromPart(part: JsonObject): JsonObject {
  for (const name of ['functionResponse', 'function_response']) {
    const result = part[name];
    if (!isJsonObject(result) || !Array.isArray(result['parts'])) continue;
    const { parts, ...rest } = result;
    const kept = (parts as JsonValue[]).filter((shown) => !isImage(shown));
    if (kept.length === (parts as JsonValue[]).length) continue;
    const said = isJsonObject(result['response']) ? result['response'] : {};
    return {
      ...part,
      [name]: { ...rest, response: { ...said, images: omittedImage }, ...(kept.length > 0 && { parts: kept }) },
    };
  }
  return part;
}

function isImage(part: JsonValue): boolean {
  if (!isJsonObject(part)) return false;
  const data = part['inlineData'] ?? part['inline_data'] ?? part['fileData'] ?? part['file_data'];
  return isJsonObject(data) && String(data['mimeType'] ?? data['mime_type']).startsWith('image/');
}
