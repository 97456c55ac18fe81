import type { TextFormat } from '#core/catalog/formats.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { type ClientRequest, exactBody } from './client-request.ts';
import { isTextFormat } from '../translation/upstream-format.ts';

/** What stands in the place of a picture that the model cannot see. */
const words = '[image omitted: this model takes no images]';
/** Said of a request out of which pictures were left. */
export const omissionNote = 'approximated images in tool results as text';

type Change = (value: JsonObject) => JsonObject;

/** How each format writes what tools have shown. */
const omissions: Readonly<Record<TextFormat, Change>> = {
  chat: (body) => within(body, 'messages', fromChat),
  responses: (body) => within(body, 'input', fromResponses),
  messages: (body) => within(body, 'messages', (message) => within(message, 'content', fromMessages)),
  gemini: (body) => within(body, 'contents', (content) => within(content, 'parts', fromGemini)),
};

/**
 * The request without the pictures in results of tools; undefined when there are none. A conversation in which a tool
 * has once shown a picture would be refused from there on, and nobody could take the picture out again. What a user
 * shows stays: he can be asked for something else.
 */
export function omitResultImages(request: ClientRequest): ClientRequest | undefined {
  const { format, body } = request;
  if (!isTextFormat(format)) return undefined;
  const omit = omissions[format];
  const without = omit(body);
  if (without === body) return undefined;
  const text = JSON.stringify(omit(exactBody(request)));
  return { ...request, body: without, text, bytes: Buffer.from(text) };
}

function fromChat(message: JsonObject): JsonObject {
  return message['role'] === 'tool' ? within(message, 'content', replacing('image_url', 'text')) : message;
}

function fromResponses(item: JsonObject): JsonObject {
  const isResult = String(item['type']).endsWith('_call_output');
  return isResult ? within(item, 'output', replacing('input_image', 'input_text')) : item;
}

function fromMessages(block: JsonObject): JsonObject {
  return block['type'] === 'tool_result' ? within(block, 'content', replacing('image', 'text')) : block;
}

function replacing(type: string, textType: string): Change {
  return (part) => {
    if (part['type'] !== type) return part;
    const { cache_control } = part;
    return { type: textType, text: words, ...(cache_control !== undefined && { cache_control }) };
  };
}

/** The parts of a result cannot be texts: the object that the tool has answered with says it. */
function fromGemini(part: JsonObject): JsonObject {
  for (const name of ['functionResponse', 'function_response']) {
    const result = part[name];
    if (!isJsonObject(result) || !Array.isArray(result['parts'])) continue;
    const { parts, ...rest } = result;
    const kept = (parts as JsonValue[]).filter((shown) => !isPicture(shown));
    if (kept.length === (parts as JsonValue[]).length) continue;
    const said = isJsonObject(result['response']) ? result['response'] : {};
    return {
      ...part,
      [name]: { ...rest, response: { ...said, images: words }, ...(kept.length > 0 && { parts: kept }) },
    };
  }
  return part;
}

function isPicture(part: JsonValue): boolean {
  if (!isJsonObject(part)) return false;
  const data = part['inlineData'] ?? part['inline_data'] ?? part['fileData'] ?? part['file_data'];
  return isJsonObject(data) && String(data['mimeType'] ?? data['mime_type']).startsWith('image/');
}

/** Changes the objects of a list; the very same value when nothing has changed. */
function within(value: JsonObject, name: string, change: Change): JsonObject {
  const list = value[name];
  if (!Array.isArray(list)) return value;
  const changed = list.map((entry) => (isJsonObject(entry) ? change(entry) : entry));
  return changed.every((entry, index) => entry === list[index]) ? value : { ...value, [name]: changed };
}
