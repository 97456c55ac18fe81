import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { AudioPart, FilePart, ImagePart, Part } from '../../../canonical/conversation.ts';
import { writeDataUrl, assistantText, unsupported } from '../../../canonical/media.ts';
import type { ResponsesPart } from '../../../wire/responses.ts';

/** Values of `detail`; others are refused. */
const details = new Set(['low', 'high', 'auto', 'original']);

/**
 * Writes parts of a user or a tool.
 *
 * @throws GatewayError `unsupported_content` for media that the model does not accept
 */
export function writeInput(parts: readonly Part[], target: EncodeTarget): ResponsesPart[] {
  return parts.map((part) => {
    switch (part.type) {
      case 'image':
        return writeImage(part, target);
      case 'file':
        return writeFile(part, target);
      case 'audio':
        return writeAudio(part, target);
      default:
        return { type: 'input_text', text: part.text };
    }
  });
}

/** Writes the text of an assistant message. */
export function writeOutput(parts: readonly Part[], { notes }: Pick<EncodeTarget, 'notes'>): ResponsesPart[] {
  return assistantText(parts, notes).map(({ type, text }) =>
    type === 'text' ? { type: 'output_text', text, annotations: [] } : { type, refusal: text },
  );
}

function writeImage(image: ImagePart, { profile, notes }: EncodeTarget): ResponsesPart {
  const { source, detail } = image;
  if (!profile.capabilities.images) throw unsupported('images', image);
  const closeness = detail !== undefined && details.has(detail) ? { detail } : {};
  if (detail !== undefined && !details.has(detail)) notes.drop('detail of an image');
  if (source.type === 'id') return { type: 'input_image', file_id: source.id, ...closeness };
  const url = source.type === 'url' ? source.url : writeDataUrl(source);
  return { type: 'input_image', image_url: url, ...closeness };
}

function writeFile(file: FilePart, { profile }: EncodeTarget): ResponsesPart {
  const { source, name } = file;
  if (!profile.capabilities.files) throw unsupported('files', file);
  if (source.type === 'id') return { type: 'input_file', file_id: source.id };
  if (source.type === 'url') return { type: 'input_file', file_url: source.url };
  return { type: 'input_file', filename: name ?? defaultName(source.mediaType), file_data: writeDataUrl(source) };
}

/** File data without a name is refused. */
function defaultName(mediaType: string): string {
  return mediaType.startsWith('text/') ? 'document.txt' : 'document.pdf';
}

function writeAudio(audio: AudioPart, { profile }: EncodeTarget): ResponsesPart {
  const { data, format } = audio;
  if (!profile.capabilities.audio) throw unsupported('audio', audio);
  return { type: 'input_audio', input_audio: { data, format } };
}
