import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import type { ChatAudio, ChatResponseFormat } from '../wire/chat.ts';
import { invalidValue, isMissing, type BodyObject } from '../wire/read.ts';
import type { ResponsesFormat, ResponsesPart } from '../wire/responses.ts';
import type { EncodeTarget } from './codec.ts';
import type { OutputFormat, AudioPart, Part, Source, Conversation } from './conversation.ts';
import { joinTexts } from './dialogue.ts';
import {
  toStandardBase64,
  isDataUrl,
  createMediaPart,
  readDataUrl,
  placeParts,
  toTextParts,
  createUnsupportedContentError,
} from './media.ts';
import type { Notes } from './notes.ts';

/**
 * Reads the output format of a request in OpenAI's formats. Source: OpenAI docs, "Structured model outputs".
 *
 * @param schemaName name of the member that holds the JSON Schema format, if the format nests it
 * @throws GatewayError `invalid_request`
 */
export function readOutputFormat<T extends object>(
  holder: BodyObject<T>,
  member: keyof T & string,
  schemaName?: 'json_schema',
): OutputFormat | undefined {
  const format = holder.maybeObject<ChatResponseFormat>(member);
  if (format === undefined) return undefined;
  const type = format.text('type');
  if (type === 'text') return undefined;
  if (type === 'json_object') return { type };
  if (type !== 'json_schema') throw invalidValue(format.pathOf('type'), 'text, json_object or json_schema');
  const details: BodyObject<ResponsesFormat> = schemaName === undefined ? format : format.object(schemaName);
  return {
    type,
    name: details.maybeText('name'),
    description: details.maybeText('description'),
    // Chat does not require the schema.
    schema: schemaName === undefined ? details.object('schema').value : (details.maybeObject('schema')?.value ?? {}),
    strict: details.maybeBoolean('strict'),
  };
}

/**
 * Reads content in OpenAI's formats: a string or a list of parts.
 *
 * @param readPart returns an empty list if a part is empty or unknown
 * @throws GatewayError `invalid_request`
 */
export function readContentParts<T extends object>(
  holder: BodyObject<T>,
  member: keyof T & string,
  readPart: (part: BodyObject) => Part[],
): Part[] {
  const value = holder.get(member);
  if (typeof value === 'string') return toTextParts(value);
  if (isMissing(value)) return [];
  if (!Array.isArray(value)) throw invalidValue(holder.pathOf(member), 'a string or a list of parts');
  return value.flatMap((part, index) => {
    if (typeof part === 'string') return toTextParts(part);
    const placed = holder.place(member, part, index);
    return placeParts(readPart(placed), placed);
  });
}

export function toRefusalParts(text: string | undefined): Part[] {
  return text === undefined || text === '' ? [] : [{ type: 'refusal', text }];
}

/** Returns true if a part has OpenAI's cache breakpoint, or Anthropic's, which OpenRouter and LiteLLM forward. */
export function hasBreakpoint(part: JsonObject): boolean {
  return isJsonObject(part['prompt_cache_breakpoint']) || isJsonObject(part['cache_control']);
}

export function appendInstructions(
  target: { readonly instructions: string[]; areInstructionsCached: true | undefined },
  parts: readonly Part[],
  notes: Notes,
): void {
  if (parts.some((part) => part.type === 'text' && part.isBreakpoint === true)) target.areInstructionsCached = true;
  const text = joinTexts(parts);
  if (text !== '') target.instructions.push(text);
  if (parts.some(({ type }) => type !== 'text')) notes.drop('images and files in instructions');
}

/** @throws GatewayError `invalid_request` if the data is not base64 */
export function readAudio(audio: BodyObject<ChatAudio>): AudioPart {
  return {
    type: 'audio',
    data: toStandardBase64(audio.text('data'), audio.pathOf('data')),
    format: audio.text('format'),
  };
}

const openaiAudioFormats: ReadonlySet<string> = new Set(['wav', 'mp3']);

/** @throws GatewayError `unsupported_content` if the model does not accept audio, or not in this format */
export function writeAudio(
  audio: AudioPart,
  { profile }: EncodeTarget,
): { type: 'input_audio'; input_audio: ChatAudio } {
  const { data, format } = audio;
  if (!profile.capabilities.audio) throw createUnsupportedContentError('audio', audio);
  if (profile.quirks.betas && !openaiAudioFormats.has(format))
    throw createUnsupportedContentError(`audio of type ${format}`, audio);
  return { type: 'input_audio', input_audio: { data, format } };
}

/** @throws GatewayError `invalid_request` if the URL is empty or invalid */
export function readMediaUrl(url: string, path: string): Source {
  const content = readDataUrl(url);
  if (content !== undefined && content.mediaType !== '') {
    return { type: 'base64', ...content, data: toStandardBase64(content.data, path) };
  }
  if (url === '' || isDataUrl(url)) throw invalidValue(path, 'a URL, or data:<media type>;base64,<data>');
  return { type: 'url', url };
}

/** @throws GatewayError `invalid_request` if the part has no data, URL or id */
export function readFilePart(file: BodyObject<ResponsesPart>, allowsUrl: boolean): Part {
  const data = file.maybeText('file_data');
  const url = allowsUrl ? file.maybeText('file_url') : undefined;
  const id = file.maybeText('file_id');
  const toPart = (source: Source) => createMediaPart(source, file.maybeText('filename'));
  if (data) return toPart(readFileData(data, file.pathOf('file_data')));
  if (url) return toPart(readMediaUrl(url, file.pathOf('file_url')));
  if (id) return toPart({ type: 'id', id, vendor: 'openai' });
  const alternatives = allowsUrl ? 'a file_url or a file_id' : 'a file_id';
  throw invalidValue(file.pathOf('file_data'), `the file’s data, unless ${alternatives} is given`);
}

function readFileData(data: string, path: string): Source {
  const isUrl = isDataUrl(data) || /^https?:/i.test(data);
  if (isUrl) return readMediaUrl(data, path);
  // Clients send PDF files as bare base64, which has no media type.
  return { type: 'base64', mediaType: 'application/pdf', data: toStandardBase64(data, path) };
}

const metadataLimits = { members: 16, nameLength: 64, valueLength: 512 }; // OpenAI's

/** Returns true if every upstream accepts the metadata. Some proxies allow other values too. */
export function isPlainMetadata(metadata: JsonObject): boolean {
  const entries = Object.entries(metadata);
  return (
    entries.length <= metadataLimits.members &&
    entries.every(
      ([name, value]) =>
        name.length <= metadataLimits.nameLength &&
        typeof value === 'string' &&
        value.length <= metadataLimits.valueLength,
    )
  );
}

/** Writes the end user in OpenAI's formats. OpenAI has two parameters for it; other vendors may refuse the newer one. */
export function writeEndUser({ user, safetyId }: Conversation, { profile, notes }: EncodeTarget): JsonObject {
  if (safetyId === undefined) return { user: user && shortenId(user) };
  const safety_identifier = shortenId(safetyId);
  if (profile.quirks.betas) return { user: user && shortenId(user), safety_identifier };
  notes.approximate('safety_identifier as user');
  if (user !== undefined) notes.drop('user');
  return { user: safety_identifier };
}

/** The longest call id, user or cache key that OpenAI accepts, in characters. */
export const maxIdLength = 64;

export function shortenId(id: string): string {
  return id.length <= maxIdLength ? id : hash('sha256', id);
}

/** Converts a call id for vendors that require exactly nine letters or digits. */
export function toNineCharacterId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hash('sha256', id).slice(0, 9);
}

export function selectRetention(requested: string, { profile }: EncodeTarget): string | undefined {
  return profile.quirks.cache_retention.find((accepted) => accepted === requested);
}
