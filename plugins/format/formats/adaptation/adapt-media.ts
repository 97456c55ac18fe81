import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Codec } from '../../canonical/codec.ts';
import { toCamelCase, asCamelObject } from '../../wire/gemini-fields.ts';
import type { GeminiBlob, GeminiPart } from '../../wire/gemini.ts';
import { type Adaptation, reencodeMembers } from '../contract/adaptation.ts';

type Medium = 'images' | 'files' | 'audio' | 'video';
const allMedia: readonly Medium[] = ['images', 'files', 'audio', 'video'];

const mediumOfType: ReadonlyMap<JsonValue | undefined, Medium> = new Map([
  ['image_url', 'images'],
  ['input_image', 'images'],
  ['image', 'images'],
  ['file', 'files'],
  ['input_file', 'files'],
  ['document', 'files'],
  ['input_audio', 'audio'],
  ['video_url', 'video'],
]);
const partHolders: ReadonlySet<string> = new Set(['content', 'output', 'parts', 'functionResponse']);

/**
 * If a request has media that the model does not accept, decodes and re-encodes its dialogue, as a translation does. Text files are sent as
 * text. All other media are rejected, so that another route is tried.
 *
 * @param names names of the members that hold the dialogue and the instructions
 * @param nameOf returns the name of a member that has several spellings
 */
export function adaptMedia(
  codec: Codec,
  names: readonly string[],
  nameOf: (name: string) => string = (name) => name,
): Adaptation {
  return (body, target) => {
    const rejectedMedia = allMedia.filter((medium) => !target.profile.capabilities[medium]);
    // A model that only lacks video support rejects videos itself, with a clear error, so its requests are not searched.
    if (rejectedMedia.every((medium) => medium === 'video')) return body;
    const dialogue = Object.entries(body).filter(([name]) => names.includes(nameOf(name)));
    if (!dialogue.some(([, value]) => containsMedium(value, new Set(rejectedMedia)))) return body;
    const encodedBody = reencodeMembers(codec, Object.fromEntries(dialogue), target);
    const otherMembers = Object.entries(body).filter((entry) => !dialogue.some(([name]) => name === entry[0]));
    const encodedMembers = names.flatMap((name) =>
      encodedBody[name] === undefined ? [] : [[name, encodedBody[name]] as const],
    );
    return Object.fromEntries([...otherMembers, ...encodedMembers]);
  };
}

function containsMedium(value: JsonValue | undefined, rejectedMedia: ReadonlySet<Medium>): boolean {
  if (Array.isArray(value)) return value.some((entry) => containsMedium(entry, rejectedMedia));
  if (!isJsonObject(value)) return false;
  const medium = mediumOf(value);
  if (medium !== undefined && rejectedMedia.has(medium)) return true;
  return Object.entries(value).some(
    ([name, member]) => partHolders.has(toCamelCase(name)) && containsMedium(member, rejectedMedia),
  );
}

function mediumOf(part: JsonObject): Medium | undefined {
  const { type } = part;
  if (type !== undefined) return mediumOfType.get(type);
  const { inlineData, fileData } = asCamelObject<GeminiPart>(part);
  const { mimeType } = asCamelObject<GeminiBlob>(inlineData ?? fileData);
  if (typeof mimeType !== 'string') return undefined;
  if (mimeType.startsWith('image/')) return 'images';
  if (mimeType.startsWith('video/')) return 'video';
  return mimeType.startsWith('audio/') ? 'audio' : 'files';
}

export const omittedImage = '[image omitted: this model does not accept images]';

export function createImageReplacer(type: string, textType: string): (part: JsonObject) => JsonObject {
  return (part) => {
    if (part['type'] !== type) return part;
    const { cache_control } = part;
    return { type: textType, text: omittedImage, ...(cache_control !== undefined && { cache_control }) };
  };
}
