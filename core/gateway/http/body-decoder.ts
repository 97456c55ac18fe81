import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { GatewayError } from '#core/platform/errors/table.ts';
import { decodesBrotli } from '#core/platform/node-release.ts';

export type OpenDecoder = (options: { readonly chunkSize?: number }) => NodeJS.ReadWriteStream & Readable;

const decoders = new Map<string, OpenDecoder>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/**
 * Returns the decoder of a request body.
 *
 * @param encoding Content-Encoding of a request, in lower case
 * @param node version of Node.js, such as `26.12.1`
 * @returns undefined if the body is not encoded
 * @throws GatewayError `unsupported_media_type`
 */
export function decoderFor(encoding: string, node: string = process.versions.node): OpenDecoder | undefined {
  if (encoding === 'identity') return undefined;
  const isBrotliOff = !decodesBrotli(node);
  const open = isBrotliOff && encoding === 'br' ? undefined : decoders.get(encoding);
  if (open !== undefined) return open;
  const why = isBrotliOff && encoding === 'br' ? 'is off until the operator updates Node.js' : 'is not supported';
  const others = isBrotliOff ? 'gzip or zstd' : 'gzip, br or zstd';
  throw new GatewayError(
    'unsupported_media_type',
    `Content-Encoding "${encoding}" ${why}. Send the body uncompressed, or as ${others}.`,
  );
}
