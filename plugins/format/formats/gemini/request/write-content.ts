import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { AudioPart, FilePart, ImagePart, Part, VideoPart } from '../../../canonical/conversation.ts';
import {
  toStandardBase64,
  isDataUrl,
  readDataUrl,
  dropAssistantMedia,
  checkImageType,
  decodeTextFile,
  createUnsupportedContentError,
  readUploadedId,
} from '../../../canonical/media.ts';
import type { GeminiPart } from '../../../wire/gemini.ts';

const mediaTypesByExtension: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  csv: 'text/csv',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
};

/** @throws GatewayError `unsupported_content` for media that the model does not accept */
export function writeInput(parts: readonly Part[], target: EncodeTarget): GeminiPart[] {
  return parts.flatMap((part) => {
    switch (part.type) {
      case 'image':
        return [writeImage(part, target)];
      case 'file':
        return writeFile(part, target);
      case 'audio':
        return [writeAudio(part, target)];
      case 'video':
        return [writeVideo(part, target)];
      default:
        return writeText(part.text);
    }
  });
}

export function writeOutput(parts: readonly Part[], target: EncodeTarget): GeminiPart[] {
  return parts.flatMap((part) => {
    if (part.type === 'image' && target.profile.capabilities.images) return [writeImage(part, target)];
    return dropAssistantMedia([part], target.notes).flatMap(({ text }) => writeText(text));
  });
}

function writeText(text: string): GeminiPart[] {
  return text === '' ? [] : [{ text }];
}

function writeImage(image: ImagePart, target: EncodeTarget): GeminiPart {
  const { detail } = image;
  const { profile, notes } = target;
  if (!profile.capabilities.images) throw createUnsupportedContentError('images', image);
  checkImageType(image.source, 'any', image);
  if (detail !== undefined && detail !== 'auto') notes.drop('image detail');
  return writeSource(image, target);
}

function writeFile(file: FilePart, target: EncodeTarget): GeminiPart[] {
  const { source, name } = file;
  if (target.profile.capabilities.files) {
    if (name !== undefined && name !== '') target.notes.drop('names of files');
    return [writeSource(file, target)];
  }
  // Text files are sent as text.
  const content = decodeTextFile(source);
  if (content === undefined) throw createUnsupportedContentError('files', file);
  return writeText([name, content].filter(Boolean).join('\n\n'));
}

function writeAudio(audio: AudioPart, { profile }: EncodeTarget): GeminiPart {
  const { data, format } = audio;
  if (!profile.capabilities.audio) throw createUnsupportedContentError('audio', audio);
  return { inlineData: { mimeType: `audio/${format}`, data } };
}

function writeVideo(video: VideoPart, target: EncodeTarget): GeminiPart {
  if (!target.profile.capabilities.video) throw createUnsupportedContentError('videos', video);
  return writeSource(video, target);
}

function writeSource(part: ImagePart | FilePart | VideoPart, { notes }: EncodeTarget): GeminiPart {
  const { source } = part;
  switch (source.type) {
    case 'base64':
      return { inlineData: { mimeType: source.mediaType, data: source.data } };
    case 'id':
      return { fileData: { fileUri: readUploadedId(source, 'google', part) } };
    case 'url':
      return writeUrl(source.url, part, notes);
  }
}

function writeUrl(url: string, part: ImagePart | FilePart | VideoPart, notes: EncodeTarget['notes']): GeminiPart {
  if (isDataUrl(url)) {
    const inline = readDataUrl(url);
    if (inline === undefined) throw createUnsupportedContentError('data that is not base64', part);
    return { inlineData: { mimeType: inline.mediaType, data: toStandardBase64(inline.data, 'url') } };
  }
  notes.approximate(`${part.type} URLs: only if Google can fetch them`);
  const mimeType = mediaTypesByExtension[extensionOf(url)];
  return { fileData: { ...(mimeType !== undefined && { mimeType }), fileUri: url } };
}

function extensionOf(url: string): string {
  return /\.([A-Za-z]{2,5})(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? '';
}
