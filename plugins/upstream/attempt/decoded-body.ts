import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { longChunkBytes } from '#core/platform/memory/decoded-pieces.ts';
import { decodesBrotliSafely } from '#core/platform/node-release.ts';
import type { UpstreamResponse, ResponseBody } from './contract.ts';
import { type Fault, createInterruptedFault } from './fault.ts';

const zstdWindowLog = 23; // the largest window allowed in HTTP (RFC 9659)

/** Decoders by content coding (RFC 9110 §8.4.1, RFC 9659). `first` is the first byte of the body. */
const decoders: Readonly<Record<string, (first: number, options: { readonly chunkSize?: number }) => Transform>> = {
  gzip: (_first, options) => createGunzip(options),
  'x-gzip': (_first, options) => createGunzip(options),
  // Some servers omit the zlib header, whose first byte contains the compression method 8.
  deflate: (first, options) => ((first & 0x0f) === 8 ? createInflate(options) : createInflateRaw(options)),
  br: (_first, options) => createBrotliDecompress(options),
  zstd: (_first, options) =>
    createZstdDecompress({ ...options, params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLog } }),
};

export function canDecode(coding: string): boolean {
  return Object.hasOwn(decoders, coding) && (coding !== 'br' || decodesBrotliSafely());
}

/**
 * Decodes a compressed body. The gateway never asks for one, but some proxies send it anyway. The limits of the inner body apply to the
 * decoded bytes. Data that the upstream flushed is decoded immediately.
 */
export class DecodedBody implements ResponseBody {
  readonly #response: UpstreamResponse;
  readonly #contentCoding: string;
  readonly #innerBody: ResponseBody;
  #decoder: Transform | undefined;
  #connectionFault: Fault | undefined;
  #reservedBytes = 0; // for one output chunk of the decoder

  constructor(
    response: UpstreamResponse,
    contentCoding: string,
    openInner: (decoded: UpstreamResponse) => ResponseBody,
  ) {
    this.#response = response;
    this.#contentCoding = contentCoding;
    this.#innerBody = openInner(new DecodedResponse(response, () => this.#decoder));
  }

  receive(chunk: Buffer): void {
    this.#decoder ??= this.#createDecoder(chunk[0] ?? 0);
    if (!this.#decoder.write(chunk)) this.#response.pause();
  }

  end(): void {
    if (this.#decoder === undefined) this.#innerBody.end();
    else this.#decoder.end();
  }

  expire(timeout: Fault): void {
    this.#innerBody.expire(timeout);
  }

  /** Decodes the received bytes, then fails. */
  disconnect(fault: Fault): void {
    this.#connectionFault = fault;
    if (this.#decoder === undefined) this.#failInnerBody(fault);
    else this.#decoder.end();
  }

  close(fault: Fault | undefined): void {
    this.#decoder?.destroy();
    this.#releaseMemory();
    this.#innerBody.close?.(fault);
  }

  #createDecoder(firstByte: number): Transform {
    const decoder = decoders[this.#contentCoding]?.(firstByte, this.#chooseChunkOptions()) as Transform;
    decoder.on('data', (chunk: Buffer) => {
      if (this.#response.isOver) decoder.destroy();
      else this.#innerBody.receive(chunk);
    });
    decoder.on('drain', () => this.#response.resume());
    decoder.once('close', () => this.#releaseMemory());
    decoder.once('end', () => {
      if (this.#connectionFault === undefined) this.#innerBody.end();
      else this.#failInnerBody(this.#connectionFault);
    });
    decoder.once('error', (error) =>
      this.#failInnerBody(createInterruptedFault('upstream_failed', upstreamReason('upstream.reason.damaged'), error)),
    );
    return decoder;
  }

  #chooseChunkOptions(): { readonly chunkSize?: number } {
    const { isStream, memory } = this.#response.request;
    // A stream keeps its small flushed chunks.
    if (isStream || !memory.grow(longChunkBytes)) return {};
    this.#reservedBytes = longChunkBytes;
    return { chunkSize: longChunkBytes };
  }

  #releaseMemory(): void {
    this.#response.request.memory.shrink(this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  #failInnerBody(fault: Fault): void {
    if (this.#response.isOver) return;
    if (this.#innerBody.disconnect === undefined) this.#response.end(fault);
    else this.#innerBody.disconnect(fault);
  }
}

/**
 * The response as the inner body sees it: a slow reader pauses the decoder, and a full decoder pauses the upstream. It is a class because
 * V8 keeps whatever the getters of an object literal capture alive until the next full collection.
 */
class DecodedResponse implements UpstreamResponse {
  readonly request: UpstreamResponse['request'];
  readonly reader: UpstreamResponse['reader'];
  readonly clock: UpstreamResponse['clock'];
  readonly status: number;
  readonly headers: UpstreamResponse['headers'];
  readonly #response: UpstreamResponse;
  readonly #decoder: () => Transform | undefined;

  constructor(response: UpstreamResponse, decoder: () => Transform | undefined) {
    this.request = response.request;
    this.reader = response.reader;
    this.clock = response.clock;
    this.status = response.status;
    this.headers = response.headers;
    this.#response = response;
    this.#decoder = decoder;
  }

  get isOver(): boolean {
    return this.#response.isOver;
  }

  get isDisconnected(): boolean {
    return this.#response.isDisconnected;
  }

  get isYielding(): boolean {
    return this.#response.isYielding;
  }

  handOver(...reply: Parameters<UpstreamResponse['handOver']>): void {
    this.#response.handOver(...reply);
  }

  end(fault?: Fault): void {
    this.#response.end(fault);
  }

  reserveMemory(bytes: number, mustFit?: boolean): boolean {
    return this.#response.reserveMemory(bytes, mustFit);
  }

  pause(): void {
    this.#decoder()?.pause();
  }

  resume(): void {
    this.#decoder()?.resume();
  }
}
