import type { ServerResponse } from 'node:http';
import { closeTruncated } from './pipelining.ts';

const maxCopiedBytes = 16_384; // copying these with their framing into one buffer is cheaper than writing several buffers

/**
 * Writes a streaming body after the head of a response, as chunks of RFC 9112 §7.1. Node passes each chunk to the system as four buffers.
 * This class passes one buffer with the chunk, its size and its line breaks, which saves a fifth of the CPU time of an event. After the
 * head, it writes directly to the socket, because Node's response would cork and uncork the socket to join the buffers.
 */
export class BodyWriter {
  readonly #response: ServerResponse;
  readonly #isChunked: boolean;
  #hasWritten = false;
  #isFull = false;

  /** @param response a response whose `writeHead` was called */
  constructor(response: ServerResponse) {
    this.#response = response;
    // HTTP/1.0 has no chunks, and responses to HEAD have no body.
    this.#isChunked = response.chunkedEncoding;
    response.chunkedEncoding = false;
  }

  /** True while the client is not keeping up. */
  get isFull(): boolean {
    return this.#isFull || this.#response.writableNeedDrain;
  }

  /** Writes a chunk. Returns false if the client is not keeping up; the response emits `drain` once it has caught up. */
  write(chunk: Buffer | string): boolean {
    // An empty chunk would end the body, whereas an empty write makes Node send the head.
    if (!this.#isChunked || chunk.length === 0) return this.#response.write(chunk);
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (bytes.length <= maxCopiedBytes) return this.#writeFrame(encodeFrame(bytes));
    this.#hasWritten = true;
    this.#response.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
    this.#response.write(bytes);
    return this.#response.write('\r\n', 'latin1');
  }

  #writeFrame(frame: Buffer): boolean {
    const { socket } = this.#response;
    // A response without a socket is queued behind another response on its connection.
    if (!this.#hasWritten || socket === null) {
      this.#hasWritten = true;
      return this.#response.write(frame);
    }
    if (socket.write(frame)) return true;
    if (!this.#isFull) {
      this.#isFull = true;
      socket.once('drain', () => this.#drain());
    }
    return false;
  }

  #drain(): void {
    this.#isFull = false;
    // Node emits `drain` on the response only after its own writes.
    this.#response.emit('drain');
  }

  /** Ends the response, which must not be ended in any other way. */
  end(): void {
    // Lets Node write the last chunk and the trailers.
    this.#response.chunkedEncoding = this.#isChunked;
    this.#response.end();
  }

  /** Ends the response without the end of its body, so that no client treats the body as complete. */
  endTruncated(text = ''): void {
    if (this.#response.req.method === 'HEAD') {
      this.end();
      return;
    }
    if (text !== '') this.write(text);
    closeTruncated(this.#response);
    this.#response.end();
  }
}

function encodeFrame(chunk: Buffer): Buffer {
  const size = chunk.length.toString(16);
  const frame = Buffer.allocUnsafe(size.length + chunk.length + 4);
  const chunkStart = writeLineBreak(frame, frame.write(size, 'latin1'));
  writeLineBreak(frame, chunkStart + chunk.copy(frame, chunkStart));
  return frame;
}

function writeLineBreak(bytes: Buffer, offset: number): number {
  bytes[offset] = 0x0d;
  bytes[offset + 1] = 0x0a;
  return offset + 2;
}
