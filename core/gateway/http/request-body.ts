import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { findExcess } from '#core/platform/json-measure.ts';
import { type OutlinedItems, createOutline } from '#core/platform/json-outline/outline.ts';
import { isJsonObject, isDeeperThan, type JsonObject, maxJsonDepth, parseObject } from '#core/platform/json.ts';
import { footprint, type MemoryShare } from '#core/platform/memory/budget.ts';
import { sumSizes } from '#core/platform/memory/collected-bytes.ts';
import { longChunkBytes, trimChunks } from '#core/platform/memory/decoded-pieces.ts';
import { freeBytes } from '#core/platform/memory/freed-bytes.ts';
import { nextTurn, yieldIfLong } from '#core/platform/timing/turn.ts';
import type { BodyOutline, BodySource } from '../pipeline/exchange.ts';
import { findDecoder, type OpenDecoder } from './body-decoder.ts';
import {
  type BodyLimits,
  collectRequestBody,
  readBuffered,
  tooLargeError,
  refuseForMemory,
  truncatedError,
} from './collect-body.ts';

const minOutlinedBytes = 16_384; // parsing a shorter body completely costs no more

const replacementCharacter = '\uFFFD'; // replaces invalid bytes in decoding, but valid text may contain it too

interface ReadyBody {
  readonly headers: IncomingHttpHeaders;
  readonly pieces: readonly Buffer[];
  readonly onRead?: (() => void) | undefined;
  readonly outlines?: ReadonlyMap<Buffer, OutlinedItems> | undefined;
}

/**
 * Reads a request's body from the socket when a stage first requests it, within limits of size and time. If the request is refused before
 * that, its body is never buffered.
 */
export class RequestBody implements BodySource {
  readonly #request: IncomingMessage | ReadyBody;
  readonly #limits: BodyLimits;
  readonly #memory: MemoryShare;
  readonly #sendContinue: () => void;
  #reading: Promise<readonly Buffer[]> | undefined;
  #isReading = false;
  #waitedMs = 0;
  #pieces: readonly Buffer[] | undefined; // as received, or joined into one buffer by `received`
  #isShared = false; // a caller has the bytes, and may keep them after the exchange
  #text: Promise<string> | undefined;
  #json: Promise<JsonObject> | undefined;

  constructor(request: IncomingMessage | ReadyBody, limits: BodyLimits, memory: MemoryShare, sendContinue: () => void) {
    this.#request = request;
    this.#limits = limits;
    this.#memory = memory;
    this.#sendContinue = sendContinue;
  }

  get received(): Buffer | undefined {
    if (this.#pieces === undefined) return undefined;
    this.#isShared = true;
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0];
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  get waited(): number {
    return this.#waitedMs;
  }

  async bytes(): Promise<Buffer> {
    if (this.#pieces === undefined) await this.#read();
    return this.received as Buffer;
  }

  async form(): Promise<Buffer> {
    if (this.#pieces === undefined) await this.#read(footprint.form);
    return this.received as Buffer;
  }

  release(): void {
    if (this.#pieces === undefined || this.#isShared) return;
    freeBytes(this.#pieces);
    this.#pieces = undefined;
  }

  text(): Promise<string> {
    this.#text ??= this.#decode();
    return this.#text;
  }

  json(): Promise<JsonObject> {
    this.#json ??= this.#parse();
    return this.#json;
  }

  outline(): Promise<BodyOutline | undefined> | undefined {
    const length = Number(this.#request.headers['content-length'] ?? Infinity);
    return length < minOutlinedBytes ? undefined : this.#outline();
  }

  async #outline(): Promise<BodyOutline | undefined> {
    requireJsonType(this.#request.headers['content-type']);
    const pieces = this.#pieces ?? (await this.#read());
    const length = sumSizes(pieces);
    if (length < minOutlinedBytes) return undefined;
    await yieldIfLong(length);
    const outline = createOutline(pieces, 'outlines' in this.#request ? this.#request.outlines : undefined);
    if (outline === undefined || outline.escapes > bounds.jsonEscapes) return undefined;
    const { text, uncutBytes } = outline;
    if (findExcess(text, bounds.requestValues, length) !== undefined) return undefined;
    await yieldIfLong(text.length);
    const body = parseObject(text);
    return body && { body, text, uncutBytes, pieces };
  }

  async #parse(): Promise<JsonObject> {
    requireJsonType(this.#request.headers['content-type']);
    const text = await this.text();
    const isLong = text.length > bounds.stepwiseBody;
    if (isLong) await nextTurn();
    requireUtf8(await this.bytes(), text);
    if (isLong) await nextTurn();
    requireReadable(text);
    if (isLong) await nextTurn();
    return parseJsonBody(text);
  }

  async #decode(): Promise<string> {
    const isLong = sumSizes(this.#pieces ?? (await this.#read())) > bounds.stepwiseBody;
    this.#isShared = true; // must not be freed during the turns below
    // In a later turn, because joining 30 MB takes 15 ms, and the caller may have outlined the body in this turn.
    if (isLong) await nextTurn();
    const bytes = this.received as Buffer;
    if (isLong) await nextTurn();
    const text = bytes.toString();
    const isWide = text.length < bytes.length;
    if (isWide && !this.#memory.grow(text.length * footprint.wideText)) throw refuseForMemory(this.#memory);
    return text;
  }

  #read(memoryPerByte: number = footprint.request): Promise<readonly Buffer[]> {
    const request = this.#request;
    this.#reading ??=
      'pieces' in request ? this.#acceptReady(request, memoryPerByte) : this.#readPieces(request, memoryPerByte);
    return this.#reading;
  }

  async #acceptReady({ pieces, onRead }: ReadyBody, memoryPerByte: number): Promise<readonly Buffer[]> {
    const size = sumSizes(pieces);
    const { maxBytes } = this.#limits;
    if (size > maxBytes) throw tooLargeError(maxBytes);
    onRead?.();
    if (!this.#memory.grow(size * memoryPerByte)) throw refuseForMemory(this.#memory);
    this.#pieces = pieces;
    return pieces;
  }

  async #readPieces(request: IncomingMessage, memoryPerByte: number): Promise<readonly Buffer[]> {
    const { maxBytes } = this.#limits;
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLargeError(maxBytes);
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    const decode = findDecoder(encoding);
    this.#sendContinue();
    this.#isReading = true;
    // Node's parser called us after the head. It reads the rest of the packet, often the complete body, after we return.
    if (!request.complete) await new Promise<void>((resolve) => setImmediate(resolve));
    try {
      // The request was destroyed before there was a listener for its events.
      if (request.destroyed && !request.complete) throw truncatedError();
      if (decode !== undefined) this.#pieces = await this.#decompress(request, decode, memoryPerByte);
      else if (request.complete) this.#pieces = readBuffered(request, this.#limits, this.#memory, memoryPerByte);
      else this.#pieces = await this.#collect(request, request, memoryPerByte);
      return this.#pieces;
    } finally {
      this.#isReading = false;
    }
  }

  /** Decompresses into long pieces if memory allows. The reservation for a long piece becomes part of the body's reservation. */
  async #decompress(request: IncomingMessage, open: OpenDecoder, memoryPerByte: number): Promise<readonly Buffer[]> {
    const reserved = this.#memory.grow(longChunkBytes) ? longChunkBytes : 0;
    const source = request.pipe(open(reserved === 0 ? {} : { chunkSize: longChunkBytes }));
    const pieces = trimChunks(await this.#collect(request, source, memoryPerByte, reserved));
    this.#memory.shrink(Math.max(0, reserved - sumSizes(pieces) * memoryPerByte));
    return pieces;
  }

  async #collect(
    request: IncomingMessage,
    source: Readable,
    memoryPerByte: number,
    reserved = 0,
  ): Promise<readonly Buffer[]> {
    const startedAt = performance.now();
    try {
      return await collectRequestBody(request, source, this.#limits, this.#memory, { memoryPerByte, reserved });
    } finally {
      this.#waitedMs = performance.now() - startedAt;
    }
  }
}

function requireJsonType(contentType: string | undefined): void {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === '' || type === 'application/json' || type.endsWith('+json') || type === 'text/plain') return;
  throw new GatewayError(
    'unsupported_media_type',
    `Content-Type "${type.slice(0, 100)}" is not supported. Send application/json.`,
  );
}

function requireUtf8(bytes: Buffer, text: string): void {
  // RFC 8259 §8.1. Decoding has replaced invalid bytes, so the model would get a different text than the client sent.
  if (!text.includes(replacementCharacter) || isUtf8(bytes)) return;
  throw new GatewayError('invalid_request', 'The body is not valid UTF-8. Send JSON in UTF-8.');
}

function requireReadable(text: string): void {
  // Too many values would take too long to parse.
  const excess = findExcess(text, bounds.requestValues);
  if (excess === undefined) return;
  throw new GatewayError('request_too_large', `The body has ${excess}, the limit of this gateway.`);
}

/** @throws GatewayError `invalid_request` unless the text is one JSON object within the depth limit */
export function parseJsonBody(text: string): JsonObject {
  if (text === '') throw new GatewayError('invalid_request', 'The body is empty. Send a JSON object.');
  const value = parse(text);
  if (isDeeperThan(value))
    throw new GatewayError('invalid_request', `The body is nested deeper than ${maxJsonDepth} levels.`);
  if (!isJsonObject(value)) throw new GatewayError('invalid_request', 'The body must be a JSON object.');
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The engine's message quotes the body, so only the position is safe to return.
    const position = error instanceof Error ? (/position \d+/.exec(error.message)?.[0] ?? '') : '';
    const message = `The body is not valid JSON${position && ` (at ${position})`}.`;
    throw new GatewayError('invalid_request', message, { cause: error });
  }
}
