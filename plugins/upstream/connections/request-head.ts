/** A request to an upstream. */
export interface UpstreamCall {
  readonly origin: string;
  readonly path: string; // with the query
  readonly method: string;
  /** By name, in any case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer | string | readonly Buffer[];
}

/** A body up to this size is copied after its head, which costs less than several buffers in one write. */
const maxCopiedBytes = 16_384;

const token = /^[\w!#$%&'*+\-.^`|~]+$/;
const value = /^[\t\x20-\x7e\x80-\xff]*$/;
const target = /^\/[\x21-\x7e\x80-\xff]*$/;

/** Headers of message framing; the connection sets or omits them (RFC 9110 §7.6.1). */
const ofConnection = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Head of a request, in Latin-1.
 *
 * @param host of the origin @param length bytes of the body @param isReused false to close the connection after it
 * @throws TypeError for characters that a head cannot contain, or a header that would change the end of the body
 */
function requestHead(call: UpstreamCall, host: string, length: number, isReused: boolean): string {
  const { method, path, headers = {} } = call;
  if (!target.test(path)) throw new TypeError('the path of a request has characters that are not allowed');
  let named = host;
  let fields = '';
  for (const name of Object.keys(headers)) {
    const text = headers[name] as string;
    if (!token.test(name) || !value.test(text))
      throw new TypeError(`the header ${JSON.stringify(name)} has characters that are not allowed`);
    const lower = name.toLowerCase();
    if (lower === 'host') named = text;
    else if (ofConnection.has(lower)) throw new TypeError(`the header ${name} cannot be set for an upstream`);
    else fields += `${name}: ${text}\r\n`;
  }
  const connection = isReused ? 'keep-alive' : 'close';
  return `${method} ${path} HTTP/1.1\r\nhost: ${named}\r\nconnection: ${connection}\r\n${fields}content-length: ${length}\r\n\r\n`;
}

/** A request as it is sent, in one piece unless it is long. @throws TypeError as `requestHead` */
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
