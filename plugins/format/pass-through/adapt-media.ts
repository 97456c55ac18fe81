import type { TextFormat } from '#core/catalog/formats.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { camelName, fieldsOf } from '../gemini/fields.ts';
import { rewriteMembers, type SwitchTarget } from './adaptation-probe.ts';

type Medium = 'images' | 'files' | 'audio';
const media: readonly Medium[] = ['images', 'files', 'audio'];

/** What the formats call their parts. */
const mediumOfType: ReadonlyMap<JsonValue | undefined, Medium> = new Map([
  ['image_url', 'images'],
  ['input_image', 'images'],
  ['image', 'images'],
  ['file', 'files'],
  ['input_file', 'files'],
  ['document', 'files'],
  ['input_audio', 'audio'],
]);
/** Where messages, and results of tools in them, keep their parts. */
const holders: ReadonlySet<string> = new Set(['content', 'output', 'parts', 'functionResponse']);
/** What each format calls the dialogue, and the instructions that are read with it. */
const dialogueNames: Readonly<Record<TextFormat, readonly string[]>> = {
  chat: ['messages'],
  responses: ['input', 'instructions'],
  messages: ['messages', 'system'],
  gemini: ['contents', 'systemInstruction'],
};

/**
 * Has a request that shows the model what it can neither see nor hear read and written anew, as on the way to a route of
 * another format: what it can be told in words is, everything else is refused, so that another route is asked.
 *
 * @throws GatewayError `not_supported`, `invalid_request`
 */
export function switchMedia(format: TextFormat, body: JsonObject, target: SwitchTarget): JsonObject {
  const refused = media.filter((medium) => !target.traits.capabilities[medium]);
  if (refused.length === 0) return body;
  const names = dialogueNames[format];
  const dialogue = Object.entries(body).filter(([name]) =>
    names.includes(format === 'gemini' ? camelName(name) : name),
  );
  if (!dialogue.some(([, said]) => holds(said, new Set(refused)))) return body;
  const written = rewriteMembers(format, Object.fromEntries(dialogue), target);
  const others = Object.entries(body).filter((entry) => !dialogue.some(([name]) => name === entry[0]));
  const said = names.flatMap((name) => (written[name] === undefined ? [] : [[name, written[name]] as const]));
  return Object.fromEntries([...others, ...said]);
}

function holds(value: JsonValue | undefined, refused: ReadonlySet<Medium>): boolean {
  if (Array.isArray(value)) return value.some((entry) => holds(entry, refused));
  if (!isJsonObject(value)) return false;
  const medium = mediumOf(value);
  if (medium !== undefined && refused.has(medium)) return true;
  return Object.entries(value).some(([name, member]) => holders.has(camelName(name)) && holds(member, refused));
}

function mediumOf(part: JsonObject): Medium | undefined {
  const { type } = part;
  if (type !== undefined) return mediumOfType.get(type);
  const { inlineData, fileData } = fieldsOf(part);
  const { mimeType } = fieldsOf(inlineData ?? fileData);
  if (typeof mimeType !== 'string') return undefined;
  if (mimeType.startsWith('image/')) return 'images';
  return mimeType.startsWith('audio/') ? 'audio' : 'files';
}
