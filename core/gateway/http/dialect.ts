import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect } from '#core/platform/errors/table.ts';
import type { Endpoint } from '../pipeline/exchange.ts';
import { vendorSegment } from './paths.ts';

/**
 * The dialect of the caller's error bodies. The path decides; on paths that several dialects share, the vendor's name in
 * the path, or else the headers that only one vendor's clients send.
 *
 * @param path decides where there is no endpoint
 */
export function callerDialect(endpoint: Endpoint | undefined, headers: IncomingHttpHeaders, path = ''): Dialect {
  if (endpoint?.format !== undefined) return endpoint.format.dialect;
  if (endpoint?.dialect !== undefined) return endpoint.dialect;
  const vendor = vendorSegment(path);
  if (vendor !== undefined) return vendor;
  if (isGooglePath(path) || isGoogleClient(headers)) return 'google';
  return isAnthropicClient(headers) ? 'anthropic' : 'openai';
}

/** Only Google's clients use this version. */
function isGooglePath(path: string): boolean {
  return /^\/(v1\/)?v1beta(\/|$)/.test(path);
}

function isGoogleClient(headers: IncomingHttpHeaders): boolean {
  return headers['x-goog-api-client'] !== undefined || headers['x-goog-api-key'] !== undefined;
}

function isAnthropicClient(headers: IncomingHttpHeaders): boolean {
  if (headers['anthropic-version'] !== undefined || headers['anthropic-beta'] !== undefined) return true;
  if (headers['x-api-key'] !== undefined && headers.authorization === undefined) return true;
  return /claude-cli|claude-code|^Anthropic\//.test(headers['user-agent'] ?? '');
}
