import { WebSocket } from 'ws';

export interface SocketEvent {
  readonly type: string;
  readonly status?: number;
  readonly stream_id?: string;
  readonly request_id?: string;
  readonly sequence_number?: number;
  readonly headers?: Record<string, string>;
  readonly response?: {
    readonly id: string;
    readonly status: string;
    readonly previous_response_id: string | null;
    readonly incomplete_details?: { readonly reason: string } | null;
    readonly output: { readonly content?: { readonly text: string }[] }[];
  };
  readonly error?: {
    readonly type: string;
    readonly code: string | null;
    readonly message: string;
    readonly param: string | null;
    readonly headers?: Record<string, string>;
  };
}

export class SocketClient implements Disposable {
  readonly ws: WebSocket;
  readonly events: SocketEvent[] = [];
  readonly closed: Promise<number>; // with the close code
  #came = Promise.withResolvers<void>();
  #read = 0;

  private constructor(ws: WebSocket) {
    this.ws = ws;
    this.closed = new Promise((resolve) => ws.once('close', resolve));
    ws.on('error', () => undefined);
    ws.on('message', (data: Buffer) => {
      this.events.push(JSON.parse(data.toString()) as SocketEvent);
      this.#came.resolve();
      this.#came = Promise.withResolvers();
    });
  }

  /** @throws the status of a response other than 101 */
  static async open(
    url: string,
    headers: Record<string, string> = {},
    protocols: string[] = [],
    path = '/v1/responses',
  ): Promise<SocketClient> {
    const ws = new WebSocket(`${url.replace('http', 'ws')}${path}`, protocols, { headers });
    const client = new SocketClient(ws);
    await new Promise<void>((resolve, reject) => {
      ws.once('open', resolve);
      ws.once('unexpected-response', (_request, response) => {
        reject(Object.assign(new Error(`status ${response.statusCode}`), { response }));
        response.resume();
      });
      ws.once('error', reject);
    });
    return client;
  }

  send(event: object): void {
    this.ws.send(JSON.stringify(event));
  }

  create(members: object): void {
    this.send({ type: 'response.create', model: 'on-chat', ...members });
  }

  /** Returns the next wanted event that no test has seen yet. */
  async next(isWanted: (event: SocketEvent) => boolean = () => true): Promise<SocketEvent> {
    for (;;) {
      const index = this.events.findIndex((event, at) => at >= this.#read && isWanted(event));
      if (index >= 0) {
        this.#read = index + 1;
        return this.events[index] as SocketEvent;
      }
      const isClosed = await Promise.race([this.#came.promise.then(() => false), this.closed.then(() => true)]);
      if (isClosed && !this.events.some((event, at) => at >= this.#read && isWanted(event)))
        throw new Error(`the socket has closed; events: ${this.events.map(({ type }) => type).join(' ')}`);
    }
  }

  /** Returns the end of the next response, or its error; with `streamId`, only of that lane. */
  async ending(streamId?: string): Promise<SocketEvent> {
    return this.next(({ type, stream_id }) => endings.has(type) && (streamId === undefined || stream_id === streamId));
  }

  async ask(members: object): Promise<SocketEvent> {
    this.create(members);
    return this.ending();
  }

  /** Drops the events received so far, for long tests. */
  forget(): void {
    this.events.length = 0;
    this.#read = 0;
  }

  [Symbol.dispose](): void {
    this.ws.terminate();
  }
}

const endings = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

export function textOf({ response }: SocketEvent): string {
  return response?.output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join('') ?? '';
}
