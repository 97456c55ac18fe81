import type { JsonValue } from '#core/platform/json.ts';
import type { FilePart, ImagePart, Part, Source } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { textPart } from '../../../canonical/media.ts';
import { invalid, maybeText, readObject, readText } from '../../../wire/read.ts';
import { readAudio, readContentParts, readFileData, readUrl } from '../../../canonical/openai.ts';
import type { ChatFile, ChatImage, ChatPart } from '../../../wire/chat.ts';

/**
 * Reads the content of a message: a string or a list of parts. Parts without text are left out.
 * Source: OpenAI API reference, "Create chat completion", `messages`.
 *
 * @throws GatewayError `invalid_request`
 */
export function readContent(value: JsonValue | undefined, path: string, notes: Notes): Part[] {
  return readContentParts(value, path, (part, partPath) => readPart(part, partPath, notes));
}

function readPart(part: ChatPart, path: string, notes: Notes): Part[] {
  const type = readText(part.type, `${path}.type`);
  switch (type) {
    case 'text':
      return textPart(readText(part.text, `${path}.text`));
    case 'refusal':
      return refusalPart(readText(part.refusal, `${path}.refusal`));
    case 'image_url':
      return [readImage(part.image_url, `${path}.image_url`)];
    case 'input_audio':
      return [readAudio(part.input_audio, `${path}.input_audio`)];
    case 'file':
      return [readFile(part.file, `${path}.file`)];
    default:
      notes.dropPart(`content part ${type}`, path);
      return [];
  }
}

export function refusalPart(text: string | undefined): Part[] {
  return text === undefined || text === '' ? [] : [{ type: 'refusal', text }];
}

/** Some clients send the URL itself in place of the object around it. */
function readImage(value: JsonValue | undefined, path: string): ImagePart {
  if (typeof value === 'string') return { type: 'image', source: readUrl(value, path), detail: undefined };
  const image: ChatImage = readObject(value, path);
  const url = readText(image.url, `${path}.url`);
  return { type: 'image', source: readUrl(url, `${path}.url`), detail: maybeText(image.detail, `${path}.detail`) };
}

function readFile(value: JsonValue | undefined, path: string): FilePart {
  const file: ChatFile = readObject(value, path);
  return { type: 'file', source: readFileSource(file, path), name: maybeText(file.filename, `${path}.filename`) };
}

function readFileSource(file: ChatFile, path: string): Source {
  const data = maybeText(file.file_data, `${path}.file_data`);
  const id = maybeText(file.file_id, `${path}.file_id`);
  if (data !== undefined && data !== '') return readFileData(data, `${path}.file_data`);
  if (id !== undefined && id !== '') return { type: 'id', id };
  throw invalid(`${path}.file_data`, 'the data of a file, unless there is a file_id');
}
