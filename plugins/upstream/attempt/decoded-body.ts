import type { Transform } from 'node:stream';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { longPiece } from '#core/platform/memory/decoded-pieces.ts';
import { decodesBrotli } from '#core/platform/node-release.ts';
import type { Answer, AnswerBody } from './contract.ts';
import { type Fault, interruptedFault } from './fault.ts';

/** Window log (base 2) that HTTP allows for zstd (RFC 9659). */
const zstdWindow = 23;

/** Decoders by content coding (RFC 9110 §8.4.1, RFC 9659). `first` is the first byte of the body. */
const decoders: Readonly<Record<string, (first: number, options: { readonly chunkSize?: number }) => Transform>> = {
  gzip: (_first, options) => createGunzip(options),
  'x-gzip': (_first, options) => createGunzip(options),
  // Some servers omit the zlib header, whose first byte contains the method 8.
  deflate: (first, options) => ((first & 0x0f) === 8 ? createInflate(options) : createInflateRaw(options)),
  br: (_first, options) => createBrotliDecompress(options),
  zstd: (_first, options) =>
    createZstdDecompress({ ...options, params: { [constants.ZSTD_d_windowLogMax]: zstdWindow } }),
};

/**
 * Returns true if the content coding can be decompressed.
 *
 * @param node version of Node.js, such as `26.12.1`
 */
export function canDecode(coding: string, node: string = process.versions.node): boolean {
  return Object.hasOwn(decoders, coding) && (coding !== 'br' || decodesBrotli(node));
}

/**
 * A compressed body, which the gateway never requests but some proxies send. The limits of the inner body apply to the decoded bytes;
 * flushed data is decoded immediately.
 */
export class DecodedBody implements AnswerBody {
  readonly #answer: Answer;
  readonly #coding: string;
  readonly #body: AnswerBody;
  #decoder: Transform | undefined;
  #fault: Fault | undefined; // of the broken connection
  #reserved = 0; // bytes of the decoder's output chunk

  /** @param open creates the inner body */
  constructor(answer: Answer, coding: string, open: (decoded: Answer) => AnswerBody) {
    this.#answer = answer;
    this.#coding = coding;
    this.#body = open(new DecodedAnswer(answer, () => this.#decoder));
  }

  take(chunk: Buffer): void {
    this.#decoder ??= this.#open(chunk[0] ?? 0);
    if (!this.#decoder.write(chunk)) this.#answer.pause();
  }

  end(): void {
    if (this.#decoder === undefined) this.#body.end();
    else this.#decoder.end();
  }

  expire(timeout: Fault): void {
    this.#body.expire(timeout);
  }

  /** Decodes the received bytes first. */
  disconnect(fault: Fault): void {
    this.#fault = fault;
    if (this.#decoder === undefined) this.#break(fault);
    else this.#decoder.end();
  }

  close(fault: Fault | undefined): void {
    this.#decoder?.destroy();
    this.#release();
    this.#body.close?.(fault);
  }

  #open(first: number): Transform {
    const decoder = decoders[this.#coding]?.(first, this.#chunkOptions()) as Transform;
    decoder.on('data', (chunk: Buffer) => {
      if (this.#answer.isOver) decoder.destroy();
      else this.#body.take(chunk);
    });
    decoder.on('drain', () => this.#answer.resume());
    decoder.once('close', () => this.#release());
    decoder.once('end', () => {
      if (this.#fault === undefined) this.#body.end();
      else this.#break(this.#fault);
    });
    decoder.once('error', (error) =>
      this.#break(interruptedFault('upstream_failed', upstreamReason('upstream.reason.damaged'), error)),
    );
    return decoder;
  }

  /** Long chunks for a whole response if memory allows. A stream is read in the small pieces in which it is flushed. */
  #chunkOptions(): { readonly chunkSize?: number } {
    const { isStream, memory } = this.#answer.request;
    if (isStream || !memory.grow(longPiece)) return {};
    this.#reserved = longPiece;
    return { chunkSize: longPiece };
  }

  #release(): void {
    this.#answer.request.memory.shrink(this.#reserved);
    this.#reserved = 0;
  }

  #break(fault: Fault): void {
    if (this.#answer.isOver) return;
    if (this.#body.disconnect === undefined) this.#answer.end(fault);
    else this.#body.disconnect(fault);
  }
}

/**
 * The answer as seen by the inner body: a slow reader pauses the decoder, and a full decoder pauses the upstream. A class, because V8 keeps
 * what the getters of an object literal capture until the next full collection.
 */
class DecodedAnswer implements Answer {
  readonly request: Answer['request'];
  readonly reader: Answer['reader'];
  readonly clock: Answer['clock'];
  readonly status: number;
  readonly headers: Answer['headers'];
  readonly #answer: Answer;
  readonly #decoder: () => Transform | undefined;

  constructor(answer: Answer, decoder: () => Transform | undefined) {
    this.request = answer.request;
    this.reader = answer.reader;
    this.clock = answer.clock;
    this.status = answer.status;
    this.headers = answer.headers;
    this.#answer = answer;
    this.#decoder = decoder;
  }

  get isOver(): boolean {
    return this.#answer.isOver;
  }

  get isDisconnected(): boolean {
    return this.#answer.isDisconnected;
  }

  get isYielding(): boolean {
    return this.#answer.isYielding;
  }

  handOver(...reply: Parameters<Answer['handOver']>): void {
    this.#answer.handOver(...reply);
  }

  end(fault?: Fault): void {
    this.#answer.end(fault);
  }

  hold(bytes: number): boolean {
    return this.#answer.hold(bytes);
  }

  pause(): void {
    this.#decoder()?.pause();
  }

  resume(): void {
    this.#decoder()?.resume();
  }
}
