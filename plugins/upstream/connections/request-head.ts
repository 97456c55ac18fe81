export interface UpstreamCall {
  readonly origin: string;
  readonly path: string; // with the query
  readonly method: string;
  /** By name, in any letter case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer | string | readonly Buffer[];
}

/** Bodies up to this size are copied behind the head, which is cheaper than a write of several buffers. */
const maxCopiedBytes = 16_384;

const headerName = /^[\w!#$%&'*+\-.^`|~]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const requestTarget = /^\/[\x21-\x7e\x80-\xff]*$/;

/** Headers of the connection and the message framing, which the gateway sets or omits itself (RFC 9110 §7.6.1). */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Head of a request, to be encoded as Latin-1.
 *
 * @param host of the origin
 * @param length bytes of the body
 * @param isReused false to close the connection after the response
 * @throws TypeError for characters that are not allowed in a head, or a header that would change the framing of the body
 */
function requestHead(call: UpstreamCall, host: string, length: number, isReused: boolean): string {
  const { method, path, headers = {} } = call;
  if (!requestTarget.test(path)) throw new TypeError('the path of a request has characters that are not allowed');
  let named = host;
  let fields = '';
  for (const name of Object.keys(headers)) {
    const text = headers[name] as string;
    if (!headerName.test(name) || !headerValue.test(text))
      throw new TypeError(`the header ${JSON.stringify(name)} has characters that are not allowed`);
    const lower = name.toLowerCase();
    if (lower === 'host') named = text;
    else if (connectionHeaders.has(lower)) throw new TypeError(`the header ${name} cannot be set for an upstream`);
    else fields += `${name}: ${text}\r\n`;
  }
  const connection = isReused ? 'keep-alive' : 'close';
  return `${method} ${path} HTTP/1.1\r\nhost: ${named}\r\nconnection: ${connection}\r\n${fields}content-length: ${length}\r\n\r\n`;
}

/**
 * Returns the bytes of a request, in one piece unless it is long.
 *
 * @throws TypeError see `requestHead`
 */
export function requestPieces(call: UpstreamCall, host: string, isReused: boolean): readonly Buffer[] {
  const { body } = call;
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : Buffer.isBuffer(body) ? [body] : body;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const head = requestHead(call, host, length, isReused);
  if (length > maxCopiedBytes) return [Buffer.from(head, 'latin1'), ...pieces];
  const bytes = Buffer.allocUnsafe(head.length + length);
  let at = bytes.write(head, 'latin1');
  for (const piece of pieces) at += piece.copy(bytes, at);
  return [bytes];
}
