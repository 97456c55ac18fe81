import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { AudioPart, FilePart, ImagePart, Part } from '../../../canonical/conversation.ts';
import { textOf } from '../../../canonical/dialogue.ts';
import { writeDataUrl, assistantText, unsupported } from '../../../canonical/media.ts';
import type { ChatPart } from '../../../wire/chat.ts';

/** Values of `detail`; `original` is one of Responses. Others are refused. */
const details = new Map([
  ['auto', 'auto'],
  ['low', 'low'],
  ['high', 'high'],
  ['original', 'high'],
]);

/**
 * Writes a user message: a string where it is one, or must be one.
 *
 * @throws GatewayError `unsupported_content` for media that the model does not accept
 */
export function writeContent(parts: readonly Part[], target: EncodeTarget): string | ChatPart[] {
  const written = parts.map((part) => writePart(part, target));
  const texts = written.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  const isText = texts.length === written.length;
  return isText && texts.length === 1 ? texts.join('') : written;
}

/** Writes the text of an assistant message. */
export function writeOutput(parts: readonly Part[], { notes }: Pick<EncodeTarget, 'notes'>): string {
  return textOf(assistantText(parts, notes));
}

function writePart(part: Part, target: EncodeTarget): ChatPart {
  switch (part.type) {
    case 'image':
      return writeImage(part, target);
    case 'file':
      return writeFile(part, target);
    case 'audio':
      return writeAudio(part, target);
    default:
      return { type: 'text', text: part.text };
  }
}

function writeImage(image: ImagePart, { profile, notes }: EncodeTarget): ChatPart {
  const { source, detail } = image;
  if (!profile.capabilities.images) throw unsupported('images', image);
  if (source.type === 'id') throw unsupported('images by the id of a file', image);
  const closeness = detail === undefined ? undefined : details.get(detail);
  if (detail !== undefined && closeness !== detail) notes.approximate('detail of an image');
  const url = source.type === 'url' ? source.url : writeDataUrl(source);
  return { type: 'image_url', image_url: { url, ...(closeness !== undefined && { detail: closeness }) } };
}

function writeFile(file: FilePart, { profile, notes }: EncodeTarget): ChatPart {
  const { source, name } = file;
  if (source.type === 'base64' && source.mediaType.startsWith('text/')) {
    notes.approximate('text files as text');
    return { type: 'text', text: titled(name, Buffer.from(source.data, 'base64').toString()) };
  }
  if (!profile.capabilities.files) throw unsupported('files', file);
  if (source.type === 'url') throw unsupported('file URLs', file);
  if (source.type === 'id') return { type: 'file', file: { file_id: source.id } };
  return { type: 'file', file: { filename: name ?? 'document.pdf', file_data: writeDataUrl(source) } };
}

/** The text with its title, and therefore never empty. */
function titled(name: string | undefined, text: string): string {
  return `${name ?? 'document'}:\n${text}`;
}

function writeAudio(audio: AudioPart, { profile }: EncodeTarget): ChatPart {
  const { data, format } = audio;
  if (!profile.capabilities.audio) throw unsupported('audio', audio);
  return { type: 'input_audio', input_audio: { data, format } };
}
