import { once } from 'node:events';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { failed, type Finding } from '#core/gateway/diagnosis/finding.ts';

export interface PublicResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly chunks: readonly { readonly receivedAt: number; readonly text: string }[]; // `receivedAt`: ms of the monotonic clock
  readonly isComplete: boolean; // false if the body was truncated
  readonly seconds: number; // from the call to the end of the body
}

interface PublicRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
}

const maxBodyBytes = 100_000; // a proxy may send a body of any size

/** Calls the public address as a client would, over HTTP/1.1 with a new connection per call. Does not follow redirects. */
export class PublicCaller {
  readonly #base: string;
  readonly #pass: string;

  /** @param base public URL, without /v1 */
  constructor(base: string, pass: string) {
    this.#base = base.replace(/\/+$/, '');
    this.#pass = pass;
  }

  /** @throws Error if the connection fails before the response head arrives */
  async call(path: string, options: PublicRequest): Promise<PublicResponse> {
    const startedAt = performance.now();
    const request = this.open(path, options);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return readResponse(response, startedAt);
  }

  prepareRequest(path: string): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
    const headers = { authorization: `Bearer ${this.#pass}`, 'user-agent': 'daypass-doctor' };
    return { url: new URL(this.#base + path), headers };
  }

  /** The caller must read the response or abort. */
  open(path: string, { method = 'GET', headers = {}, query = {}, body, signal }: PublicRequest): ClientRequest {
    const { url, headers: commonHeaders } = this.prepareRequest(path);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const isSecure = url.protocol === 'https:';
    // Loaded on use, because both modules are large.
    const { request: send } = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http');
    const bodyHeaders = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length };
    const request = send(url, {
      method,
      agent: false,
      signal,
      headers: { ...commonHeaders, ...bodyHeaders, ...headers },
    });
    // `once` throws errors that occur before a response. Later ones concern a call that is already finished.
    request.on('error', () => undefined);
    request.end(body);
    return request;
  }
}

function isGatewayResponse({ headers }: PublicResponse): boolean {
  return headers['x-request-id'] !== undefined && headers['request-id'] !== undefined;
}

export function describeUnexpectedResponse(response: PublicResponse, advice: string): Finding {
  const { status, headers, seconds } = response;
  if (isGatewayResponse(response)) {
    const text = `the gateway answers ${status}: ${response.text.slice(0, 200)}`;
    return failed(
      text,
      'Read the message. A 404 means that another gateway responded, or that the Authorization header was lost.',
    );
  }
  const type = headers['content-type'] ?? 'without a content type';
  const text = `a proxy answers ${status} (${type}) after ${seconds.toFixed(1)} s; the gateway did not answer`;
  return failed(text, advice);
}

/** @param startedAt ms of the monotonic clock */
export async function readResponse(response: IncomingMessage, startedAt: number): Promise<PublicResponse> {
  const chunks: { receivedAt: number; text: string }[] = [];
  let receivedBytes = 0;
  response.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length;
    if (receivedBytes <= maxBodyBytes) chunks.push({ receivedAt: performance.now(), text: chunk.toString() });
  });
  // A truncated body also raises an error on the response. It can be ignored, because `complete` is then false.
  response.on('error', () => undefined);
  await new Promise((resolve) => response.once('close', resolve));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: chunks.map(({ text }) => text).join(''),
    chunks,
    isComplete: response.complete,
    seconds: (performance.now() - startedAt) / 1000,
  };
}
