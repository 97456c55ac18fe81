import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type pg from 'pg';

/*
 * PostgreSQL's `COPY`, streamed in both directions. The driver passes the protocol messages to the object that it runs as a query
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY). Memory is bounded by one chunk and the socket.
 */

/** The parts of the driver's connection that COPY uses and the driver's types lack. */
interface WireConnection {
  readonly stream: Socket;
  query(sql: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

const minChunkBytes = 65_536; // a row has a few hundred bytes

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
  #chunks: Buffer[] = [];
  #size = 0;
  #result: { readonly error?: Error } | undefined;
  #connection: WireConnection | undefined;
  #wake = Promise.withResolvers<void>();

  override handleCopyInResponse(connection: WireConnection): void {
    connection.sendCopyFail('this statement does not read');
  }

  override handleCopyData({ chunk }: { readonly chunk: Buffer }, connection: WireConnection): void {
    this.#connection = connection;
    // Copied, because the driver reuses its buffer.
    this.#chunks.push(Buffer.from(chunk));
    this.#size += chunk.length;
    if (this.#size < minChunkBytes) return;
    connection.stream.pause();
    this.#wake.resolve();
  }

  override handleError(error: Error): void {
    this.#finish({ error });
  }

  override handleReadyForQuery(): void {
    this.#finish({});
  }

  async *readChunks(): AsyncGenerator<Buffer> {
    for (;;) {
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
      const chunk = Buffer.concat(this.#chunks);
      this.#chunks = [];
      this.#size = 0;
      if (chunk.length > 0) yield chunk;
      // Resumes even after the last chunk, because the next query needs the connection.
      this.#connection?.stream.resume();
      if (this.#result !== undefined) break;
    }
    if (this.#result.error !== undefined) throw this.#result.error;
  }

  #finish(end: { readonly error?: Error }): void {
    this.#result ??= end;
    this.#wake.resolve();
  }
}

class CopyIn extends CopyCommand {
  readonly #chunks: AsyncIterable<Buffer>;
  readonly #completion = Promise.withResolvers<number>();
  #failure: Error | undefined;

  constructor(sql: string, chunks: AsyncIterable<Buffer>) {
    super(sql);
    this.#chunks = chunks;
  }

  get completion(): Promise<number> {
    return this.#completion.promise;
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
    this.#completion.reject(this.#failure);
  }

  override handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#completion.resolve(this.rows);
    else this.#completion.reject(this.#failure);
  }

  async #send(connection: WireConnection): Promise<void> {
    for await (const chunk of this.#chunks) {
      if (this.#failure !== undefined) return;
      connection.sendCopyFromChunk(chunk);
      if (connection.stream.writableNeedDrain) await waitForDrain(connection.stream);
    }
    connection.endCopyFrom();
  }
}

function waitForDrain(stream: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = () => {
    stream.off('drain', finish).off('close', finish);
    resolve();
  };
  stream.on('drain', finish).on('close', finish);
  return promise;
}

/** Runs `COPY … TO STDOUT`, in chunks of at least 64 KB. `rows` returns the number of rows once all chunks are read. */
export function copyOut(client: pg.Client, sql: string): { readonly chunks: AsyncIterable<Buffer>; rows(): number } {
  const command = new CopyOut(sql);
  client.query(command as never);
  return { chunks: command.readChunks(), rows: () => command.rows };
}

/** Runs `COPY … FROM STDIN` and returns the number of rows. Rejects with errors of the source or PostgreSQL. */
export function copyIn(client: pg.Client, sql: string, chunks: AsyncIterable<Buffer>): Promise<number> {
  const command = new CopyIn(sql, chunks);
  client.query(command as never);
  return command.completion;
}
