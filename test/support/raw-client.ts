import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A client that writes and reads raw bytes, for requests that no HTTP library would send. */
export class RawClient implements Disposable {
  readonly socket: Socket;
  received = ''; // so far, one character per byte
  readonly #closed: Promise<unknown>;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.#closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (bytes: Buffer) => {
      this.received += bytes.toString('latin1');
    });
    socket.on('error', () => undefined);
  }

  /** Only host and port of the URL count. */
  static async open(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  send(text: string | Buffer): void {
    this.socket.write(text);
  }

  /** @throws Error if the connection closes before the text arrives */
  async waitFor(text: string): Promise<void> {
    while (!this.received.includes(text)) {
      if (this.socket.destroyed) throw new Error(`closed without ${text}: ${this.received}`);
      await Promise.race([once(this.socket, 'data'), this.#closed]);
    }
  }

  /** Waits until the server closes the connection. Returns everything received. */
  async end(): Promise<string> {
    await this.#closed;
    return this.received;
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.received)?.[1]);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
