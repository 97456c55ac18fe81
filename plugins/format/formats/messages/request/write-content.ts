import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { FilePart, ImagePart, Part, Source } from '../../../canonical/conversation.ts';
import { assistantText, fileText, unsupported } from '../../../canonical/media.ts';
import type { MessagesBlock, MessagesSource } from '../../../wire/messages.ts';

/** The first base64 characters of images: a wrong media type is refused. */
const imageBeginnings: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/**
 * Writes parts of a user or a tool; empty texts are left out, because they are refused.
 *
 * @throws GatewayError `unsupported_content` for media that the model does not accept
 */
export function writeInput(parts: readonly Part[], target: EncodeTarget): MessagesBlock[] {
  return parts.flatMap((part) => {
    switch (part.type) {
      case 'image':
        return [writeImage(part, target, part)];
      case 'file':
        return writeFile(part, target);
      case 'audio':
        throw unsupported('audio', part);
      default:
        return writeText(part.text);
    }
  });
}

/** Writes the text of an assistant message. */
export function writeOutput(parts: readonly Part[], { notes }: Pick<EncodeTarget, 'notes'>): MessagesBlock[] {
  return assistantText(parts, notes).flatMap(({ text }) => writeText(text));
}

export function writeText(text: string): MessagesBlock[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** @param from the client's part, for errors */
function writeImage({ source, detail }: ImagePart, { profile, notes }: EncodeTarget, from: Part): MessagesBlock {
  if (!profile.capabilities.images) throw unsupported('images', from);
  if (detail !== undefined && detail !== 'auto') notes.drop('detail of an image');
  if (source.type !== 'base64') return { type: 'image', source: writeSource(source) };
  const begun = imageBeginnings.find(([beginning]) => source.data.startsWith(beginning));
  return { type: 'image', source: writeSource({ ...source, mediaType: begun?.[1] ?? source.mediaType }) };
}

function writeSource(source: Source): MessagesSource {
  switch (source.type) {
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data };
    case 'url':
      return { type: 'url', url: source.url };
    case 'id':
      return { type: 'file', file_id: source.id };
  }
}

/** Models without file support still get text files as text. */
function writeFile(file: FilePart, target: EncodeTarget): MessagesBlock[] {
  const { source, name } = file;
  const content = fileText(source);
  const { files } = target.profile.capabilities;
  if (content !== undefined && !files) return writeText([name, content].filter(Boolean).join('\n\n'));
  if (!files) throw unsupported('files', file);
  if (content !== undefined && content.trim() === '') return [];
  const title = name === undefined || name === '' ? {} : { title: name };
  if (content !== undefined) {
    return [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: content }, ...title }];
  }
  if (source.type === 'base64' && source.mediaType.startsWith('image/')) {
    return [writeImage({ type: 'image', source, detail: undefined }, target, file)];
  }
  if (source.type === 'base64' && source.mediaType !== 'application/pdf') {
    throw unsupported(`files of the type ${source.mediaType}`, file);
  }
  return [{ type: 'document', source: writeSource(source), ...title }];
}
