import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type pg from 'pg';

/**
 * PostgreSQL's `COPY`, streamed in both directions. The driver passes the protocol messages to the object that it runs as a query
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY). Memory is bounded by one chunk and the socket.
 */

/** The parts of the driver's connection that COPY uses, which its types lack. */
interface WireConnection {
  readonly stream: Socket;
  query(sql: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

const chunkBytes = 65_536; // rows have a few hundred bytes each

abstract class CopyCommand {
  readonly #sql: string;
  rows = 0;

  constructor(sql: string) {
    this.#sql = sql;
  }

  submit(connection: WireConnection): void {
    connection.query(this.#sql);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.rows = Number(/^COPY (\d+)$/.exec(text)?.[1] ?? 0);
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
  abstract handleCopyInResponse(connection: WireConnection): void;
  abstract handleCopyData(message: { readonly chunk: Buffer }, connection: WireConnection): void;
  abstract handleError(error: Error): void;
  abstract handleReadyForQuery(): void;
}

class CopyOut extends CopyCommand {
  #pieces: Buffer[] = [];
  #size = 0;
  #end: { readonly error?: Error } | undefined;
  #connection: WireConnection | undefined;
  #wake = Promise.withResolvers<void>();

  override handleCopyInResponse(connection: WireConnection): void {
    connection.sendCopyFail('this statement does not read');
  }

  override handleCopyData({ chunk }: { readonly chunk: Buffer }, connection: WireConnection): void {
    this.#connection = connection;
    // Copied, because the driver reuses its buffer.
    this.#pieces.push(Buffer.from(chunk));
    this.#size += chunk.length;
    if (this.#size < chunkBytes) return;
    connection.stream.pause();
    this.#wake.resolve();
  }

  override handleError(error: Error): void {
    this.#finish({ error });
  }

  override handleReadyForQuery(): void {
    this.#finish({});
  }

  async *read(): AsyncGenerator<Buffer> {
    for (;;) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
      const chunk = Buffer.concat(this.#pieces);
      this.#pieces = [];
      this.#size = 0;
      if (chunk.length > 0) yield chunk;
      // Even at the end, because the next query needs the connection.
      this.#connection?.stream.resume();
      if (this.#end !== undefined) break;
    }
    if (this.#end.error !== undefined) throw this.#end.error;
  }

  #finish(end: { readonly error?: Error }): void {
    this.#end ??= end;
    this.#wake.resolve();
  }
}

class CopyIn extends CopyCommand {
  readonly #chunks: AsyncIterable<Buffer>;
  readonly #done = Promise.withResolvers<number>();
  #failure: Error | undefined;

  constructor(sql: string, chunks: AsyncIterable<Buffer>) {
    super(sql);
    this.#chunks = chunks;
  }

  get done(): Promise<number> {
    return this.#done.promise;
  }

  override handleCopyInResponse(connection: WireConnection): void {
    this.#send(connection).catch((error: Error) => {
      this.#failure ??= error;
      connection.sendCopyFail('the source failed');
    });
  }

  override handleCopyData(): void {}

  override handleError(error: Error): void {
    this.#failure ??= error;
    this.#done.reject(this.#failure);
  }

  override handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#done.resolve(this.rows);
    else this.#done.reject(this.#failure);
  }

  async #send(connection: WireConnection): Promise<void> {
    for await (const chunk of this.#chunks) {
      if (this.#failure !== undefined) return;
      connection.sendCopyFromChunk(chunk);
      if (connection.stream.writableNeedDrain) await drained(connection.stream);
    }
    connection.endCopyFrom();
  }
}

function drained(stream: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    stream.off('drain', end).off('close', end);
    resolve();
  };
  stream.on('drain', end).on('close', end);
  return promise;
}

/**
 * Runs `COPY … TO STDOUT`.
 *
 * @returns chunks of about 64 KB; `rows` once all are read
 */
export function copyOut(client: pg.Client, sql: string): { readonly chunks: AsyncIterable<Buffer>; rows(): number } {
  const command = new CopyOut(sql);
  client.query(command as never);
  return { chunks: command.read(), rows: () => command.rows };
}

/**
 * Runs `COPY … FROM STDIN`.
 *
 * @returns the number of rows
 * @throws errors of the source or PostgreSQL
 */
export function copyIn(client: pg.Client, sql: string, chunks: AsyncIterable<Buffer>): Promise<number> {
  const command = new CopyIn(sql, chunks);
  client.query(command as never);
  return command.done;
}
