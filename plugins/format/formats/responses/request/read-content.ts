import type { JsonValue } from '#core/platform/json.ts';
import type { FilePart, ImagePart, Part, Source } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { textPart } from '../../../canonical/media.ts';
import { invalid, maybeText, readText } from '../../../wire/read.ts';
import { readAudio, readContentParts, readFileData, readUrl } from '../../../canonical/openai.ts';
import type { ResponsesPart } from '../../../wire/responses.ts';

/**
 * Reads the content of a message or of a tool result: a string or a list of parts. Parts without text are left out.
 * Source: OpenAI API reference, "Responses", input items.
 *
 * @throws GatewayError `invalid_request`
 */
export function readContent(value: JsonValue | undefined, path: string, notes: Notes): Part[] {
  return readContentParts(value, path, (part, partPath) => readPart(part, partPath, notes));
}

function readPart(part: ResponsesPart, path: string, notes: Notes): Part[] {
  const type = readText(part.type, `${path}.type`);
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'summary_text':
    case 'text':
      return textPart(readText(part.text, `${path}.text`));
    case 'refusal': {
      const text = readText(part.refusal, `${path}.refusal`);
      return text === '' ? [] : [{ type: 'refusal', text }];
    }
    case 'input_image':
      return [readImage(part, path)];
    case 'input_file':
      return [readFile(part, path)];
    case 'input_audio':
      return [readAudio(part.input_audio, `${path}.input_audio`)];
    default:
      notes.dropPart(`content part ${type}`, path);
      return [];
  }
}

function readImage(part: ResponsesPart, path: string): ImagePart {
  const detail = maybeText(part.detail, `${path}.detail`);
  const id = maybeText(part.file_id, `${path}.file_id`);
  const url = maybeText(part.image_url, `${path}.image_url`);
  if (url !== undefined && url !== '') return { type: 'image', source: readUrl(url, `${path}.image_url`), detail };
  if (id !== undefined && id !== '') return { type: 'image', source: { type: 'id', id }, detail };
  throw invalid(`${path}.image_url`, 'the URL of an image, unless there is a file_id');
}

function readFile(part: ResponsesPart, path: string): FilePart {
  return { type: 'file', source: readFileSource(part, path), name: maybeText(part.filename, `${path}.filename`) };
}

function readFileSource(part: ResponsesPart, path: string): Source {
  const data = maybeText(part.file_data, `${path}.file_data`);
  const url = maybeText(part.file_url, `${path}.file_url`);
  const id = maybeText(part.file_id, `${path}.file_id`);
  if (data !== undefined && data !== '') return readFileData(data, `${path}.file_data`);
  if (url !== undefined && url !== '') return readUrl(url, `${path}.file_url`);
  if (id !== undefined && id !== '') return { type: 'id', id };
  throw invalid(`${path}.file_data`, 'the data of a file, unless there is a file_url or a file_id');
}
