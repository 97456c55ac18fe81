import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** Answers one request. It may wait for a gate, a promise that the test resolves. */
export type Handler = (request: RecordedRequest, response: ScriptedResponse) => void | Promise<void>;

/** How an exchange ended: answered to the end, broken off by the upstream, or closed by the client. */
export type Ending = 'answered' | 'broken off' | 'client left';

/** A request, recorded when its body is complete. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string; // with the query
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Connections are numbered from 1; two requests with the same number shared one. */
  readonly connection: number;
  /** The body as JSON. @throws when it is not valid JSON */
  json<T = Record<string, unknown>>(): T;
  readonly closed: Promise<Ending>;
}

/**
 * An upstream on loopback that does exactly what a test scripts, faults included. It has no retries, timeouts or
 * keep-alive limit of its own.
 */
export interface FaultyUpstream extends AsyncDisposable {
  /** Origin, without a path. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** The nth request, counted from 1; waits until it has arrived. */
  waitForRequest(count: number): Promise<RecordedRequest>;
  /** How the nth request, counted from 1, ended; waits for its end. */
  waitForClose(count: number): Promise<Ending>;
}

export interface UpstreamOptions {
  /** False drops every request after its handler; `requests` stays empty. */
  readonly keeps?: boolean;
  /** True to see the look-ups of balances too, which a gateway makes when it starts; they get 404 otherwise. */
  readonly seesBalances?: boolean;
}

/** Where vendors say what is left in an account. */
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
 * @param script one handler for all requests, or a list with one handler per request; a further request gets 500. What a
 *   handler throws is thrown again when the upstream is disposed.
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
    if (chunks === undefined) return; // The client left while it was sending.
    const request = record(incoming, Buffer.concat(chunks as Buffer[]), connections, response);
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

/** The answer to one request, part by part. After the client has left, every method does nothing. */
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

  /** Sends status and headers at once; without a call after it, the body stalls. `content-length` may be wrong. */
  head(status: number, headers: Readonly<Record<string, string>> = {}): void {
    if (this.#response.destroyed) return;
    this.#response.writeHead(status, headers).flushHeaders();
  }

  /** Answers with a whole body. */
  send(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer = ''): void {
    if (this.#response.destroyed) return;
    this.#response.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers }).end(body);
  }

  json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.send(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(value));
  }

  /** Begins an event stream and writes its first events. */
  sse(...values: readonly unknown[]): void {
    this.head(200, { 'content-type': 'text/event-stream' });
    for (const value of values) void this.event(value);
  }

  /** Writes an event. @param value written as it is when it is a string (`[DONE]`), otherwise as JSON */
  event(value: unknown, name?: string): Promise<void> {
    const data = typeof value === 'string' ? value : JSON.stringify(value);
    return this.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`);
  }

  /** Writes bytes of the body. Resolves when the system has accepted them or the connection has closed. */
  async write(chunk: string | Buffer): Promise<void> {
    if (this.#response.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#response.write(chunk, () => resolve());
    await Promise.race([promise, this.closed]);
  }

  /**
   * Waits until a gateway in this process has read what was written, and begun to answer its client. Until then it may take
   * another route.
   */
  async passedOn(): Promise<void> {
    for (let turn = 0; turn < 8; turn++) await new Promise(setImmediate);
  }

  end(chunk: string | Buffer = ''): void {
    if (!this.#response.destroyed) this.#response.end(chunk);
  }

  /**
   * Writes bytes past Node's HTTP: a malformed status line, 1xx answers, broken chunks. End with `cut` or `reset`, since
   * Node knows nothing about this answer.
   */
  raw(bytes: string | Buffer): void {
    this.#response.socket?.write(bytes);
  }

  /** Closes the connection once everything written has been sent, however incomplete. */
  cut(): void {
    this.#isBrokenOff = true;
    this.#response.socket?.destroySoon();
  }

  /** Resets the connection (RST). Written bytes that were not read yet may be lost. */
  reset(): void {
    this.#isBrokenOff = true;
    this.#response.socket?.resetAndDestroy();
  }
}

function record(
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
