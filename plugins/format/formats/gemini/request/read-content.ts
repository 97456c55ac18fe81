import type { Part, Source } from '../../../canonical/conversation.ts';
import { createMediaPart, toStandardBase64, placeParts } from '../../../canonical/media.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { readFieldsIfPresent } from '../../../wire/gemini-fields.ts';
import type { GeminiBlob, GeminiFile, GeminiPart } from '../../../wire/gemini.ts';
import { isMissing, type BodyObject } from '../../../wire/read.ts';

const metadataMembers: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'mediaResolution',
]);

// Google reads these videos by URL without a media type. Source: Gemini API docs, "Video understanding".
const youtubePattern = /^https:\/\/(?:(?:www\.|m\.)?youtube\.com|youtu\.be)\//;

/**
 * Reads a part from a user, a tool or an assistant; empty if the part is empty or unknown. Source: Gemini API reference, "Part".
 *
 * @throws GatewayError `invalid_request`
 */
export function readPart(part: BodyObject<GeminiPart>, notes: Notes): Part[] {
  return placeParts(readContent(part, notes), part);
}

function readContent(part: BodyObject<GeminiPart>, notes: Notes): Part[] {
  notes.dropMembers(part.value, ['videoMetadata', 'mediaResolution'], 'parts');
  const text = part.maybeText('text');
  if (text !== undefined) return text === '' ? [] : [{ type: 'text', text }];
  const inline = readFieldsIfPresent<GeminiBlob, GeminiPart>(part, 'inlineData');
  if (inline !== undefined) return [readInline(inline)];
  const file = readFieldsIfPresent<GeminiFile, GeminiPart>(part, 'fileData');
  if (file !== undefined) return [readFile(file)];
  // Any other member is content that only Google has, such as code that it runs.
  const unknownMember = Object.entries(part.value).find(
    ([name, value]) => !metadataMembers.has(name) && !isMissing(value),
  );
  if (unknownMember !== undefined) notes.dropPart(unknownMember[0], part.path);
  return [];
}

function readInline(inline: BodyObject<GeminiBlob>): Part {
  const mediaType = inline.text('mimeType').toLowerCase();
  const data = toStandardBase64(inline.text('data'), inline.pathOf('data'));
  return createMediaPart({ type: 'base64', mediaType, data }, inline.maybeText('displayName') || undefined);
}

function readFile(file: BodyObject<GeminiFile>): Part {
  const url = file.text('fileUri');
  const statedType = file.maybeText('mimeType') ?? '';
  const source: Source = isGoogleUpload(url) ? { type: 'id', id: url, vendor: 'google' } : { type: 'url', url };
  const mediaType = statedType === '' && youtubePattern.test(url) ? 'video/*' : statedType;
  return createMediaPart(source, file.maybeText('displayName') || undefined, mediaType);
}

function isGoogleUpload(uri: string): boolean {
  return /^gs:|^files\/|^https:\/\/generativelanguage\.googleapis\.com\//.test(uri) || !/^https?:/.test(uri);
}
