import { connectionHeaders, headerNamePattern, headerValuePattern } from '#core/platform/http-fields.ts';

export interface UpstreamCall {
  readonly origin: string;
  readonly path: string; // including the query
  readonly method: string;
  /** By name, in upper or lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer | string | readonly Buffer[];
}

const maxCopiedBytes = 16_384; // into the head's buffer, which costs less than writing several buffers

const requestTargetPattern = /^\/[\x21-\x7e\x80-\xff]*$/;

/**
 * Formats the head of a request, to be encoded as Latin-1.
 *
 * @param host host of the origin; `call.headers` may contain another
 * @param length bytes of the body
 * @param isPersistent false to close the connection after the response
 * @throws TypeError for characters that are not allowed in a head, or a header that would change the framing of the body
 */
function formatHead(call: UpstreamCall, host: string, length: number, isPersistent: boolean): string {
  const { method, path, headers = {} } = call;
  if (!requestTargetPattern.test(path))
    throw new TypeError('the path of a request has characters that are not allowed');
  let hostHeader = host;
  let fields = '';
  for (const name of Object.keys(headers)) {
    const value = headers[name] as string;
    if (!headerNamePattern.test(name) || !headerValuePattern.test(value))
      throw new TypeError(`the header ${JSON.stringify(name)} has characters that are not allowed`);
    const lowerName = name.toLowerCase();
    if (lowerName === 'host') hostHeader = value;
    else if (connectionHeaders.has(lowerName)) throw new TypeError(`the header ${name} cannot be set for an upstream`);
    else fields += `${name}: ${value}\r\n`;
  }
  const connection = isPersistent ? 'keep-alive' : 'close';
  return `${method} ${path} HTTP/1.1\r\nhost: ${hostHeader}\r\nconnection: ${connection}\r\n${fields}content-length: ${length}\r\n\r\n`;
}

/**
 * Encodes a request into one buffer, or several if it is long.
 *
 * @throws TypeError see `formatHead`
 */
export function encodeRequest(call: UpstreamCall, host: string, isPersistent: boolean): readonly Buffer[] {
  const { body } = call;
  const bodyPieces = typeof body === 'string' ? [Buffer.from(body)] : Buffer.isBuffer(body) ? [body] : body;
  const length = bodyPieces.reduce((sum, piece) => sum + piece.length, 0);
  const head = formatHead(call, host, length, isPersistent);
  if (length > maxCopiedBytes) return [Buffer.from(head, 'latin1'), ...bodyPieces];
  const bytes = Buffer.allocUnsafe(head.length + length);
  let offset = bytes.write(head, 'latin1');
  for (const piece of bodyPieces) offset += piece.copy(bytes, offset);
  return [bytes];
}
