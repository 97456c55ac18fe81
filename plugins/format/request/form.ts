import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { mediaTypeOf } from '../wire/media-type.ts';

/** The text fields of a form and the positions of its parts. Files are represented by empty texts. */
export interface Form {
  readonly fields: JsonObject;
  readonly parts: ReadonlyMap<string, readonly Span[]>;
  /** The delimiter before each part. */
  readonly delimiter: Buffer;
  readonly bytes: Buffer;
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

interface Part extends Span {
  readonly name: string;
  readonly isFile: boolean;
}

export function isForm(contentType: string | undefined): boolean {
  return mediaTypeOf(contentType ?? '') === 'multipart/form-data';
}

/**
 * Reads a form (RFC 7578) without copying its files.
 *
 * @throws GatewayError `invalid_request` for a form that another parser may read differently
 */
export function readForm(bytes: Buffer, contentType: string): Form {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^;\s"]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed('its Content-Type has no boundary');
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const fields: JsonObject = Object.create(null) as JsonObject;
  const parts = new Map<string, Span[]>();
  for (const part of partsOf(bytes, delimiter)) {
    const earlier = parts.get(part.name);
    if (earlier !== undefined && part.name === 'model') throw malformed('it has two parts named "model"');
    if (earlier === undefined) parts.set(part.name, [part]);
    else earlier.push(part);
    const isText = !part.isFile && part.end - part.begin <= bounds.smallBody;
    fields[part.name] = isText ? bytes.toString('utf8', part.begin, part.end) : '';
  }
  return { fields, parts, delimiter, bytes };
}

/** Replaces values of fields; missing fields are inserted before the first part. */
export function withFields({ bytes, parts, delimiter }: Form, values: Readonly<Record<string, string>>): Buffer[] {
  const entries = Object.entries(values);
  const added = entries.filter(([name]) => !parts.has(name));
  const head = ([name, value]: readonly [string, string]) =>
    Buffer.concat([delimiter, Buffer.from(`\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)]);
  const replaced = entries.flatMap(([name, value]) => (parts.get(name) ?? []).map((span) => ({ ...span, value })));
  const pieces: Buffer[] = added.map(head);
  let at = 0;
  for (const { begin, end, value } of replaced.toSorted((a, b) => a.begin - b.begin)) {
    pieces.push(bytes.subarray(at, begin), Buffer.from(value));
    at = end;
  }
  return [...pieces, bytes.subarray(at)];
}

const lineEnd = Buffer.from('\r\n');
const blankLine = Buffer.from('\r\n\r\n');

function* partsOf(bytes: Buffer, delimiter: Buffer): Generator<Part> {
  const next = Buffer.concat([lineEnd, delimiter]);
  // Parsers ignore the text before the first delimiter, and clients send little of it.
  let at = bytes.subarray(0, bounds.requestHead).indexOf(delimiter);
  if (at === -1 || (at > 0 && !bytes.subarray(at - 2, at).equals(lineEnd)))
    throw malformed('its first boundary is missing');
  at += delimiter.length;
  for (let count = 0; bytes.toString('latin1', at, at + 2) !== '--'; count++) {
    if (count === bounds.formParts) throw malformed(`it has more than ${bounds.formParts} parts`);
    const headEnd = bytes.indexOf(blankLine, at);
    if (!bytes.subarray(at, at + 2).equals(lineEnd) || headEnd === -1 || headEnd - at > bounds.requestHead)
      throw malformed('a part has no valid head');
    const begin = headEnd + blankLine.length;
    const end = bytes.indexOf(next, begin);
    if (end === -1) throw malformed('its last boundary is missing');
    yield { ...readHead(bytes.toString('utf8', at + 2, headEnd)), begin, end };
    at = end + next.length;
  }
}

const parameter = /;\s*([^=;\s]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]*))\s*/gy;

/** The name in `Content-Disposition: form-data; name="model"`. */
function readHead(head: string): Pick<Part, 'name' | 'isFile'> {
  const [, list] = /^content-disposition\s*:\s*form-data\s*((?:;.*)?)$/im.exec(head) ?? [];
  const values = new Map<string, string>();
  for (const [, name = '', quoted, plain] of (list ?? '').matchAll(parameter)) {
    if (values.has(name.toLowerCase())) throw malformed('a part has two names');
    values.set(name.toLowerCase(), quoted ?? plain ?? '');
  }
  const name = values.get('name');
  if (name === undefined || values.has('name*')) throw malformed('a part has no name that every server reads');
  return { name, isFile: values.has('filename') || values.has('filename*') };
}

function malformed(what: string): GatewayError {
  return new GatewayError('invalid_request', `The form cannot be read: ${what}.`);
}
