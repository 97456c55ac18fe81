import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { LagTolerantTimer } from '#core/platform/timing/lag-tolerant-timer.ts';
import { stalledTime } from '#core/platform/timing/loop-lag.ts';

export interface BodyLimits {
  /** Bytes after decompression. */
  readonly maxBytes: number;
  /** Seconds without a byte after which reading fails; also the allowance on top of the time for the body's size. */
  readonly timeout: number;
  /** Bytes per second that a body must reach on average. */
  readonly minRate: number;
}

/** Returns the seconds that a body of the maximum size may take. */
export function longestUpload({ maxBytes, timeout, minRate }: BodyLimits): number {
  return timeout + maxBytes / minRate;
}

/**
 * Takes a body that arrived with its head, as most do, without listeners or a timer.
 *
 * @throws see `collect`
 */
export function takeBuffered(
  request: IncomingMessage,
  { maxBytes }: BodyLimits,
  memory: MemoryShare,
  perByte: number,
): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let size = 0;
  // One chunk per read: a body that waited for the lookup of its account has several.
  for (let piece = request.read() as Buffer | null; piece !== null; piece = request.read() as Buffer | null) {
    pieces.push(piece);
    size += piece.length;
  }
  if (size > maxBytes) throw tooLarge(maxBytes);
  if (!memory.grow(size * perByte)) throw tooMuch(memory);
  return pieces;
}

/**
 * Collects a request body within its limits.
 *
 * @throws GatewayError `request_too_large`, `request_timeout`, `invalid_request`, `unavailable`
 */
export function collect(
  request: IncomingMessage,
  source: Readable,
  { maxBytes, timeout, minRate }: BodyLimits,
  memory: MemoryShare,
  { perByte, reserved }: { readonly perByte: number; readonly reserved: number },
): Promise<readonly Buffer[]> {
  let held = reserved;
  const { promise, resolve, reject } = Promise.withResolvers<readonly Buffer[]>();
  const collected = new CollectedBytes();
  const began = performance.now() - stalledTime();
  const silence = new LagTolerantTimer(() =>
    fail(new GatewayError('request_timeout', `No data of the request body received for ${timeout} s.`)),
  );
  silence.start(timeout * 1000);
  const fail = (error: GatewayError) => {
    silence.stop();
    source.removeAllListeners('data');
    if (source !== request) {
      request.unpipe();
      source.destroy();
    }
    request.pause();
    reject(error);
  };
  source.on('data', (chunk: Buffer) => {
    silence.restart();
    collected.add(chunk);
    const { size } = collected;
    const seconds = (performance.now() - stalledTime() - began) / 1000;
    if (size > maxBytes) fail(tooLarge(maxBytes));
    else if (!memory.grow(Math.max(0, size * perByte - held))) fail(tooMuch(memory));
    else if (seconds > timeout + size / minRate) fail(tooSlow(minRate));
    held = Math.max(held, size * perByte);
  });
  source.once('end', () => {
    silence.stop();
    resolve(collected.takePieces());
  });
  source.once('error', () => fail(truncated()));
  if (source !== request)
    request.once('error', () => fail(new GatewayError('invalid_request', 'The body is truncated.')));
  return promise;
}

export function truncated(): GatewayError {
  return new GatewayError('invalid_request', 'The body is truncated, or its Content-Encoding is wrong.');
}

/** Counts and creates the rejection of a body for which there is no memory. */
export function tooMuch(memory: MemoryShare): GatewayError {
  memory.refuse('body');
  return new GatewayError('unavailable', 'The gateway has too little memory for this body now. Try again.', {
    retryAfter: 1,
  });
}

function tooSlow(minRate: number): GatewayError {
  return new GatewayError('request_timeout', `The body arrived at less than ${minRate} bytes per second.`);
}

export function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('request_too_large', `The body is larger than ${maxBytes} bytes, the limit of this gateway.`);
}
