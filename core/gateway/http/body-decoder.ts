import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { GatewayError } from '#core/platform/errors/table.ts';
import { decodesBrotliSafely } from '#core/platform/node-release.ts';

export type OpenDecoder = (options: { readonly chunkSize?: number }) => NodeJS.ReadWriteStream & Readable;

const decoders = new Map<string, OpenDecoder>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/**
 * Finds the decoder for an encoding; undefined if the body is not encoded.
 *
 * @param encoding Content-Encoding of the request, in lower case
 * @throws GatewayError `unsupported_media_type`
 */
export function findDecoder(encoding: string, nodeVersion: string = process.versions.node): OpenDecoder | undefined {
  if (encoding === 'identity') return undefined;
  const hasBrotli = decodesBrotliSafely(nodeVersion);
  const isBrotliDisabled = encoding === 'br' && !hasBrotli;
  const open = decoders.get(encoding);
  if (open !== undefined && !isBrotliDisabled) return open;
  const reason = isBrotliDisabled ? 'is disabled until the operator updates Node.js' : 'is not supported';
  const supported = hasBrotli ? 'gzip, br or zstd' : 'gzip or zstd';
  throw new GatewayError(
    'unsupported_media_type',
    `Content-Encoding "${encoding}" ${reason}. Send the body uncompressed, or as ${supported}.`,
  );
}
