import type { JsonValue } from '#core/platform/json.ts';
import type { Part, Source } from '../../../canonical/conversation.ts';
import { mediaPart, standardBase64, placeParts } from '../../../canonical/media.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { maybeFields, readFields } from '../../../wire/gemini-fields.ts';
import { isMissing, maybeText, readText } from '../../../wire/read.ts';
import type { GeminiBlob, GeminiFile, GeminiPart } from '../../../wire/gemini.ts';

/** A part and its path. */
export interface PlacedPart {
  readonly part: GeminiPart;
  readonly path: string;
}

/** Members of parts besides their content. Any other member is content of Google's own, such as code that it runs. */
const besides: ReadonlySet<string> = new Set(['thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution']);

/**
 * Reads a part of a user, a tool or an assistant; nothing for an empty or unknown one. Source: Gemini API reference,
 * "Part".
 *
 * @throws GatewayError `invalid_request`
 */
export function readPart(placed: PlacedPart, notes: Notes): Part[] {
  return placeParts(readShown(placed, notes), placed.path);
}

function readShown({ part, path }: PlacedPart, notes: Notes): Part[] {
  notes.dropMembers(part, ['videoMetadata', 'mediaResolution'], 'parts');
  const text = maybeText(part.text, `${path}.text`);
  if (text !== undefined) return text === '' ? [] : [{ type: 'text', text }];
  const inline = maybeFields(part.inlineData, `${path}.inlineData`);
  if (inline !== undefined) return [readInline(inline, `${path}.inlineData`)];
  const file = maybeFields(part.fileData, `${path}.fileData`);
  if (file !== undefined) return [readFile(file, `${path}.fileData`)];
  const unknown = Object.entries(part).find(([name, value]) => !besides.has(name) && !isMissing(value));
  if (unknown !== undefined) notes.dropPart(unknown[0], path);
  return [];
}

export function readPlaced(entry: JsonValue, path: string): PlacedPart {
  return { part: readFields(entry, path), path };
}

function readInline(inline: GeminiBlob, path: string): Part {
  const mediaType = readText(inline.mimeType, `${path}.mimeType`).toLowerCase();
  const data = standardBase64(readText(inline.data, `${path}.data`), `${path}.data`);
  const name = maybeText(inline.displayName, `${path}.displayName`) || undefined;
  return mediaPart({ type: 'base64', mediaType, data }, name);
}

function readFile(file: GeminiFile, path: string): Part {
  const url = readText(file.fileUri, `${path}.fileUri`);
  const given = maybeText(file.mimeType, `${path}.mimeType`) ?? '';
  const source: Source = isUpload(url) ? { type: 'id', id: url, vendor: 'google' } : { type: 'url', url };
  const mediaType = given === '' && youtube.test(url) ? 'video/*' : given;
  return mediaPart(source, maybeText(file.displayName, `${path}.displayName`) || undefined, mediaType);
}

/** Videos that Google reads at their address, without a media type. Source: Gemini API docs, "Video understanding". */
const youtube = /^https:\/\/(?:(?:www\.|m\.)?youtube\.com|youtu\.be)\//;

/** Files that were uploaded to Google: only Google can fetch them. */
function isUpload(uri: string): boolean {
  return /^gs:|^files\/|^https:\/\/generativelanguage\.googleapis\.com\//.test(uri) || !/^https?:/.test(uri);
}
