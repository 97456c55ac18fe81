import type { JsonObject, JsonValue } from '#core/json.ts';
import { standardBase64 } from './base64.ts';
import type { AudioPart, Part, Source } from './conversation.ts';
import { isDataUrl, readDataUrl } from './data-url.ts';
import { placeParts, textPart } from './parts.ts';
import { invalid, isMissing, readObject, readText } from './read.ts';

/**
 * Reads content of OpenAI's formats: a string or a list of parts.
 *
 * @param readPart returns nothing for a part that is empty or unknown
 * @throws GatewayError `invalid_request`
 */
export function readContentParts(
  value: JsonValue | undefined,
  path: string,
  readPart: (part: JsonObject, path: string) => Part[],
): Part[] {
  if (isMissing(value)) return [];
  if (typeof value === 'string') return textPart(value);
  if (!Array.isArray(value)) throw invalid(path, 'a string or a list of parts');
  return value.flatMap((part, index) => {
    const partPath = `${path}[${index}]`;
    return typeof part === 'string'
      ? textPart(part)
      : placeParts(readPart(readObject(part, partPath), partPath), partPath);
  });
}

export function readAudio(value: JsonValue | undefined, path: string): AudioPart {
  const audio = readObject(value, path);
  return {
    type: 'audio',
    data: standardBase64(readText(audio['data'], `${path}.data`), `${path}.data`),
    format: readText(audio['format'], `${path}.format`),
  };
}

export function readUrl(url: string, path: string): Source {
  const content = readDataUrl(url);
  if (content !== undefined && content.mediaType !== '') {
    return { type: 'base64', ...content, data: standardBase64(content.data, path) };
  }
  if (url === '' || isDataUrl(url)) throw invalid(path, 'a URL, or data:<media type>;base64,<data>');
  return { type: 'url', url };
}

/** The data of a file. Bare base64 has no media type; what clients send without one is PDF. */
export function readFileData(data: string, path: string): Source {
  const isUrl = isDataUrl(data) || /^https?:/i.test(data);
  if (isUrl) return readUrl(data, path);
  return { type: 'base64', mediaType: 'application/pdf', data: standardBase64(data, path) };
}
