import { GatewayError } from '#core/platform/errors/table.ts';
import { invalidValue, type BodyObject } from '../wire/read.ts';
import type {
  AudioPart,
  FilePart,
  FileVendor,
  ImagePart,
  Part,
  RefusalPart,
  Source,
  TextPart,
  VideoPart,
} from './conversation.ts';
import { detectImageType } from './generated-images.ts';
import type { Notes } from './notes.ts';

const partPaths = new WeakMap<Part, string>(); // in the client's request; parts created by the gateway have none

/** Records the path for those parts that do not have a more specific one yet. */
export function placeParts(parts: Part[], placed: Pick<BodyObject, 'path'>): Part[] {
  for (const part of parts) if (part.type !== 'text' && !partPaths.has(part)) partPaths.set(part, placed.path);
  return parts;
}

export function createUnsupportedContentError(content: string, part: Part): GatewayError {
  return createPartError(`This model does not accept ${content}.`, part);
}

function createPartError(message: string, part: Part): GatewayError {
  const param = partPaths.get(part);
  return new GatewayError('unsupported_content', message, param === undefined ? {} : { param });
}

/** @throws GatewayError `unsupported_content` if the file was uploaded to a different vendor */
export function readUploadedId(source: Extract<Source, { type: 'id' }>, vendor: FileVendor, part: Part): string {
  if (source.vendor === vendor) return source.id;
  const name = JSON.stringify(source.id.slice(0, 100));
  throw createPartError(`The file ${name} was uploaded to a different vendor. Send its content instead.`, part);
}

export function createMediaPart(
  source: Source,
  name: string | undefined,
  mediaType = source.type === 'base64' ? source.mediaType : '',
): FilePart | ImagePart | VideoPart | AudioPart {
  const [kind, format = ''] = mediaType.toLowerCase().split('/');
  if (kind === 'video') return { type: 'video', source };
  if (kind === 'audio' && source.type === 'base64') {
    return { type: 'audio', data: source.data, format: toAudioFormat(format) };
  }
  if (kind === 'image') return { type: 'image', source, detail: undefined };
  return { type: 'file', source, name };
}

/** Returns the name that all formats except Google's use: `mp3` for `audio/mpeg`, `wav` for `audio/x-wav`. */
function toAudioFormat(subtype: string): string {
  const format = (subtype.split(';')[0] ?? '').replace(/^x-/, '');
  if (format === 'mpeg') return 'mp3';
  return format === 'wave' ? 'wav' : format;
}

/** Returns a name for a file without one, because vendors rely on the extension. */
export function createFileName(mediaType: string): string {
  if (mediaType.startsWith('text/')) return 'document.txt';
  return `document.${/^application\/(json|xml|zip|rtf)$/.exec(mediaType)?.[1] ?? 'pdf'}`;
}

/** Image types that Anthropic and OpenAI accept. Sources: Anthropic docs, "Vision"; OpenAI docs, "Images and vision". */
const commonImageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/**
 * Refuses an image type that no model of a format can read, so that another route is tried.
 *
 * @param acceptedTypes `any` accepts every type except drawings
 * @throws GatewayError `unsupported_content`
 */
export function checkImageType(source: Source, acceptedTypes: 'common' | 'any', part: Part): void {
  if (source.type !== 'base64') return;
  const type = detectImageType(source.data) ?? source.mediaType;
  const isRefused =
    acceptedTypes === 'common' ? type.startsWith('image/') && !commonImageTypes.has(type) : type === 'image/svg+xml';
  if (isRefused) throw createUnsupportedContentError(`images of type ${type}`, part);
}

/** Decodes a text file, because its text can be sent even to models without file support; undefined for other files. */
export function decodeTextFile(source: Source): string | undefined {
  if (source.type !== 'base64' || !isTextType(source.mediaType)) return undefined;
  return Buffer.from(source.data, 'base64').toString();
}

function isTextType(mediaType: string): boolean {
  return /^text\/|[/+](json|xml|yaml|javascript)$/.test(mediaType);
}

export function isMedia(part: Part): part is Exclude<Part, TextPart | RefusalPart> {
  return part.type !== 'text' && part.type !== 'refusal';
}

export function dropAssistantMedia(parts: readonly Part[], notes: Notes): (TextPart | RefusalPart)[] {
  for (const part of parts) if (isMedia(part)) notes.drop(`${part.type} in assistant message`);
  return parts.filter((part) => !isMedia(part));
}

export function toTextParts(text: string, isBreakpoint = false): Part[] {
  if (text === '') return [];
  return isBreakpoint ? [{ type: 'text', text, isBreakpoint }] : [{ type: 'text', text }];
}

/** Returns undefined for any other URL, and for data that is not base64. */
export function readDataUrl(url: string): { mediaType: string; data: string } | undefined {
  const comma = url.indexOf(',');
  if (!isDataUrl(url) || comma === -1) return undefined;
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).toLowerCase().split(';');
  if (!parameters.some((parameter) => parameter.trim() === 'base64')) return undefined;
  return { mediaType: correctMediaType(mediaType.trim()), data: url.slice(comma + 1) };
}

export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

export function writeDataUrl({ mediaType, data }: { mediaType: string; data: string }): string {
  return `data:${mediaType};base64,${data}`;
}

/** Corrects `image/jpg`, which is not a media type: some clients send it, and vendors refuse it. */
export function correctMediaType(mediaType: string): string {
  return mediaType === 'image/jpg' ? 'image/jpeg' : mediaType;
}

/**
 * Converts data to standard base64 with padding, which data URLs and Anthropic require. google-genai for Python uses the URL-safe alphabet,
 * which Gemini also accepts. White space and missing padding are common. Standard data is returned unchanged.
 *
 * @param path path of the member, for errors
 * @throws GatewayError `invalid_request`
 */
export function toStandardBase64(data: string, path: string): string {
  if (isStandardBase64(data)) return data;
  const standard = data.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  const digitsEnd = standard.search(/[^A-Za-z0-9+/]/);
  const digits = digitsEnd === -1 ? standard : standard.slice(0, digitsEnd);
  if (digits.length % 4 === 1 || !/^={0,3}$/.test(standard.slice(digits.length))) throw invalidValue(path, 'base64');
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, '=');
}

function isStandardBase64(data: string): boolean {
  const digitsEnd = data.search(/[^A-Za-z0-9+/]/);
  return data.length % 4 === 0 && (digitsEnd === -1 || /^={1,2}$/.test(data.slice(digitsEnd)));
}
