import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { mediaTypeOf } from '../wire/media-type.ts';

interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

/** A form's text fields, and the positions of its parts. Files appear as empty texts. */
export interface Form {
  readonly fields: JsonObject;
  readonly parts: ReadonlyMap<string, readonly ByteSpan[]>;
  readonly delimiter: Buffer;
  readonly bytes: Buffer;
}

interface Part extends ByteSpan {
  readonly name: string;
  readonly isFile: boolean;
}

export function isForm(contentType: string | undefined): boolean {
  return mediaTypeOf(contentType ?? '') === 'multipart/form-data';
}

/**
 * Reads a form (RFC 7578) without copying its files.
 *
 * @throws GatewayError `invalid_request` if another parser may read the form differently
 */
export function readForm(bytes: Buffer, contentType: string): Form {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^;\s"]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed('its Content-Type has no boundary');
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const fields: JsonObject = Object.create(null) as JsonObject;
  const parts = new Map<string, ByteSpan[]>();
  for (const part of readParts(bytes, delimiter)) {
    const sameNameParts = parts.get(part.name);
    if (sameNameParts !== undefined && part.name === 'model') throw malformed('it has two parts named "model"');
    if (sameNameParts === undefined) parts.set(part.name, [part]);
    else sameNameParts.push(part);
    const isText = !part.isFile && part.end - part.start <= bounds.smallBody;
    fields[part.name] = isText ? bytes.toString('utf8', part.start, part.end) : '';
  }
  return { fields, parts, delimiter, bytes };
}

/** A field that the form lacks is inserted before its first part. Returns the form's bytes in pieces. */
export function replaceFields({ bytes, parts, delimiter }: Form, values: Readonly<Record<string, string>>): Buffer[] {
  const entries = Object.entries(values);
  const newFields = entries.filter(([name]) => !parts.has(name));
  const renderPart = ([name, value]: readonly [string, string]) =>
    Buffer.concat([delimiter, Buffer.from(`\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)]);
  const replacedSpans = entries.flatMap(([name, value]) => (parts.get(name) ?? []).map((span) => ({ ...span, value })));
  const pieces: Buffer[] = newFields.map(renderPart);
  let position = 0;
  for (const { start, end, value } of replacedSpans.toSorted((a, b) => a.start - b.start)) {
    pieces.push(bytes.subarray(position, start), Buffer.from(value));
    position = end;
  }
  return [...pieces, bytes.subarray(position)];
}

const lineEnd = Buffer.from('\r\n');
const blankLine = Buffer.from('\r\n\r\n');

function* readParts(bytes: Buffer, delimiter: Buffer): Generator<Part> {
  const nextDelimiter = Buffer.concat([lineEnd, delimiter]);
  // Parsers ignore the text before the first delimiter, which is short.
  let position = bytes.subarray(0, bounds.requestHead).indexOf(delimiter);
  const isAtLineStart = position === 0 || bytes.subarray(position - 2, position).equals(lineEnd);
  if (position === -1 || !isAtLineStart) throw malformed('its first boundary is missing');
  position += delimiter.length;
  for (let count = 0; bytes.toString('latin1', position, position + 2) !== '--'; count++) {
    if (count === bounds.formParts) throw malformed(`it has more than ${bounds.formParts} parts`);
    const headEnd = bytes.indexOf(blankLine, position);
    const hasLineEnd = bytes.subarray(position, position + 2).equals(lineEnd);
    if (!hasLineEnd || headEnd === -1 || headEnd - position > bounds.requestHead)
      throw malformed('a part has no valid header');
    const start = headEnd + blankLine.length;
    const end = bytes.indexOf(nextDelimiter, start);
    if (end === -1) throw malformed('its last boundary is missing');
    yield { ...readHead(bytes.toString('utf8', position + 2, headEnd)), start, end };
    position = end + nextDelimiter.length;
  }
}

const parameterPattern = /;\s*([^=;\s]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]*))\s*/gy;

function readHead(head: string): Pick<Part, 'name' | 'isFile'> {
  const [, list] = /^content-disposition\s*:\s*form-data\s*((?:;.*)?)$/im.exec(head) ?? [];
  const values = new Map<string, string>();
  for (const [, name = '', quoted, plain] of (list ?? '').matchAll(parameterPattern)) {
    if (values.has(name.toLowerCase())) throw malformed('a part has two names');
    values.set(name.toLowerCase(), quoted ?? plain ?? '');
  }
  const name = values.get('name');
  if (name === undefined || values.has('name*')) throw malformed('a part has no name that every server can read');
  return { name, isFile: values.has('filename') || values.has('filename*') };
}

function malformed(reason: string): GatewayError {
  return new GatewayError('invalid_request', `The form cannot be read: ${reason}.`);
}
