import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** Answers one request. It may wait for a gate, which is a promise that the test resolves. */
export type Handler = (request: RecordedRequest, response: ScriptedResponse) => void | Promise<void>;

export type Ending = 'answered' | 'broken off' | 'client left';

/** Recorded once the body is complete. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string; // with the query
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly connection: number; // from 1; two requests with the same number shared one
  /** @throws if the body is not valid JSON */
  json<T = Record<string, unknown>>(): T;
  readonly closed: Promise<Ending>;
}

/**
 * An upstream on loopback that does exactly what a test scripts, including faults. It has no retries, timeouts or keep-alive limit of its
 * own.
 */
export interface FaultyUpstream extends AsyncDisposable {
  readonly url: string; // origin, without a path
  readonly requests: readonly RecordedRequest[];
  /** Returns the nth request, from 1, once it has arrived. */
  waitForRequest(count: number): Promise<RecordedRequest>;
  /** Returns how the nth request, from 1, ended, once it has. */
  waitForClose(count: number): Promise<Ending>;
}

export interface UpstreamOptions {
  readonly keeps?: boolean; // false drops every request after its handler; `requests` then stays empty
  /** True passes on balance queries, which a gateway makes when it starts; otherwise they get 404. */
  readonly seesBalances?: boolean;
}

const balancePaths = new Set([
  '/user/balance',
  '/api/v1/key',
  '/v1/users/me/balance',
  '/v1/user/info',
  '/openapi/v1/billing/balance/detail',
]);

/**
 * Starts an upstream.
 *
 *     await using upstream = await createUpstream(async (_request, response) => {
 *       response.sse();
 *       await response.event({ choices: [] });
 *       await gate.promise; // const gate = Promise.withResolvers<void>()
 *       response.cut();
 *     });
 *
 * @param script one handler for all requests, or a list with one handler per request; further requests get 500. An error thrown by a
 *   handler is thrown again when the upstream is disposed.
 */
export async function createUpstream(
  script: Handler | readonly Handler[],
  { keeps = true, seesBalances = false }: UpstreamOptions = {},
): Promise<FaultyUpstream> {
  const handlerOf = typeof script === 'function' ? () => script : (index: number) => script[index] ?? answerUnscripted;
  const requests: RecordedRequest[] = [];
  const connections = new WeakMap<Socket, number>();
  const thrown: unknown[] = [];
  let connectionCount = 0;
  let arrived = Promise.withResolvers<void>();

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const response = new ScriptedResponse(outgoing);
    if (!seesBalances && balancePaths.has(incoming.url ?? '')) return response.json(404, {});
    const chunks = await incoming.toArray().catch(() => undefined);
    if (chunks === undefined) return; // The client left while sending.
    const request = createRecord(incoming, Buffer.concat(chunks as Buffer[]), connections, response);
    const handler = handlerOf(keeps ? requests.push(request) - 1 : 0);
    arrived.resolve();
    arrived = Promise.withResolvers();
    await handler(request, response);
  };
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, (incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      thrown.push(error);
      incoming.socket.destroy();
    });
  });
  server.on('connection', (socket) => connections.set(socket, ++connectionCount));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const waitForRequest = async (count: number): Promise<RecordedRequest> => {
    while (requests.length < count) await arrived.promise;
    return requests[count - 1] as RecordedRequest;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    waitForRequest,
    waitForClose: async (count) => (await waitForRequest(count)).closed,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (thrown.length > 0) throw thrown[0];
    },
  };
}

/** Once the client has left, no method does anything. */
export class ScriptedResponse {
  readonly #response: ServerResponse;
  #isBrokenOff = false;
  readonly closed: Promise<Ending>;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      response.once('close', () => {
        if (this.#isBrokenOff) resolve('broken off');
        else resolve(response.writableFinished ? 'answered' : 'client left');
      });
    });
  }

  /** Sends status and headers at once. If no call follows, the body stalls. `content-length` may be wrong. */
  head(status: number, headers: Readonly<Record<string, string>> = {}): void {
    if (this.#response.destroyed) return;
    this.#response.writeHead(status, headers).flushHeaders();
  }

  send(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer = ''): void {
    if (this.#response.destroyed) return;
    this.#response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers }).end(body);
  }

  json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.send(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(value));
  }

  sse(...values: readonly unknown[]): void {
    this.head(200, { 'content-type': 'text/event-stream' });
    for (const value of values) void this.event(value);
  }

  /** @param value written as it is if it is a string (`[DONE]`), otherwise as JSON */
  event(value: unknown, name?: string): Promise<void> {
    const data = typeof value === 'string' ? value : JSON.stringify(value);
    return this.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`);
  }

  /** Resolves once the system has accepted the bytes or the connection has closed. */
  async write(chunk: string | Buffer): Promise<void> {
    if (this.#response.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#response.write(chunk, () => resolve());
    await Promise.race([promise, this.closed]);
  }

  /**
   * Waits until a gateway in this process has read what was written and has started to answer its client. Until then it may switch to
   * another route.
   */
  async passedOn(): Promise<void> {
    for (let turn = 0; turn < 8; turn++) await new Promise(setImmediate);
  }

  end(chunk: string | Buffer = ''): void {
    if (!this.#response.destroyed) this.#response.end(chunk);
  }

  /**
   * Writes bytes that bypass Node's HTTP: a malformed status line, 1xx responses, broken chunks. End with `cut` or `reset`, because Node
   * knows nothing about this answer.
   */
  raw(bytes: string | Buffer): void {
    this.#response.socket?.write(bytes);
  }

  /** Closes the connection once everything written has been sent, even if it is incomplete. */
  cut(): void {
    this.#isBrokenOff = true;
    this.#response.socket?.destroySoon();
  }

  /** Resets the connection (RST). Bytes that have not been read yet may be lost. */
  reset(): void {
    this.#isBrokenOff = true;
    this.#response.socket?.resetAndDestroy();
  }
}

function createRecord(
  { method = '', url = '', headers, socket }: IncomingMessage,
  body: Buffer,
  connections: WeakMap<Socket, number>,
  { closed }: ScriptedResponse,
): RecordedRequest {
  return {
    method,
    path: url,
    headers,
    body,
    connection: connections.get(socket) as number,
    json: <T>() => JSON.parse(body.toString()) as T,
    closed,
  };
}

const answerUnscripted: Handler = ({ method, path }, response) =>
  response.json(500, { error: { message: `no handler for this request: ${method} ${path}` } });
