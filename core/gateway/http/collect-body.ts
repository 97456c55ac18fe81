import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import { readStalledMs } from '#core/platform/timing/loop-lag.ts';

export interface BodyLimits {
  readonly maxBytes: number; // after decompression
  readonly timeout: number; // seconds that the client may send nothing; also added to the time that the body's size allows
  readonly minRate: number; // average, bytes per second
}

export function maxUploadSeconds({ maxBytes, timeout, minRate }: BodyLimits): number {
  return timeout + maxBytes / minRate;
}

/**
 * Reads a body that arrived together with its head, as most bodies do. This needs no listeners and no timer.
 *
 * @throws see `collectRequestBody`
 */
export function readBuffered(
  request: IncomingMessage,
  { maxBytes }: BodyLimits,
  memory: MemoryShare,
  memoryPerByte: number,
): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let size = 0;
  // Each call returns one chunk. A body that arrived while its account was looked up has several.
  for (let chunk = request.read() as Buffer | null; chunk !== null; chunk = request.read() as Buffer | null) {
    chunks.push(chunk);
    size += chunk.length;
  }
  if (size > maxBytes) throw tooLargeError(maxBytes);
  if (!memory.grow(size * memoryPerByte)) throw refuseForMemory(memory);
  return chunks;
}

/**
 * Collects a request body within its limits.
 *
 * @param source stream of the decoded body, or the request itself
 * @throws GatewayError `request_too_large`, `request_timeout`, `invalid_request`, `unavailable`
 */
export function collectRequestBody(
  request: IncomingMessage,
  source: Readable,
  { maxBytes, timeout, minRate }: BodyLimits,
  memory: MemoryShare,
  { memoryPerByte, reserved }: { readonly memoryPerByte: number; readonly reserved: number },
): Promise<readonly Buffer[]> {
  let reservedBytes = reserved;
  const { promise, resolve, reject } = Promise.withResolvers<readonly Buffer[]>();
  const collected = new CollectedBytes();
  const startedAt = performance.now() - readStalledMs();
  const idleTimer = new LagTolerantTimer(() =>
    fail(new GatewayError('request_timeout', `No request body data received for ${timeout} s.`)),
  );
  idleTimer.start(timeout * 1000);
  const fail = (error: GatewayError) => {
    idleTimer.stop();
    source.removeAllListeners('data');
    if (source !== request) {
      request.unpipe();
      source.destroy();
    }
    request.pause();
    reject(error);
  };
  source.on('data', (chunk: Buffer) => {
    idleTimer.restart();
    collected.add(chunk);
    const { size } = collected;
    const seconds = (performance.now() - readStalledMs() - startedAt) / 1000;
    if (size > maxBytes) fail(tooLargeError(maxBytes));
    else if (!memory.grow(Math.max(0, size * memoryPerByte - reservedBytes))) fail(refuseForMemory(memory));
    else if (seconds > timeout + size / minRate) fail(tooSlowError(minRate));
    reservedBytes = Math.max(reservedBytes, size * memoryPerByte);
  });
  source.once('end', () => {
    idleTimer.stop();
    resolve(collected.takeChunks());
  });
  source.once('error', () => fail(truncatedError()));
  if (source !== request)
    request.once('error', () => fail(new GatewayError('invalid_request', 'The body is truncated.')));
  return promise;
}

export function truncatedError(): GatewayError {
  return new GatewayError('invalid_request', 'The body is truncated, or its Content-Encoding is wrong.');
}

/** Counts a refusal for lack of memory, and returns its error. */
export function refuseForMemory(memory: MemoryShare): GatewayError {
  memory.countRefusal('body');
  return new GatewayError('unavailable', 'Not enough memory for this body right now. Try again.', { retryAfter: 1 });
}

function tooSlowError(minRate: number): GatewayError {
  return new GatewayError('request_timeout', `The body arrived at less than ${minRate} bytes per second.`);
}

export function tooLargeError(maxBytes: number): GatewayError {
  return new GatewayError('request_too_large', `The body is larger than ${maxBytes} bytes, the limit of this gateway.`);
}
