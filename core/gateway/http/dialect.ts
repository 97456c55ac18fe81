import type { IncomingHttpHeaders } from 'node:http';
import { type Dialect, dialectNames, dialects } from '#core/platform/errors/dialects.ts';
import type { Endpoint } from '../pipeline/exchange.ts';
import { findVendorSegment } from './paths.ts';

/** Google comes first, because its SDK expects Google's errors even with a key for Claude. */
const detectionOrder = dialectNames.toReversed();

/**
 * Returns the dialect in which the caller expects errors. The endpoint usually determines it. On shared or unknown paths, the vendor's name
 * in the path does, or else headers that only one vendor's clients send.
 *
 * @param path path of the request, needed if the endpoint has no dialect
 */
export function detectDialect(endpoint: Endpoint | undefined, headers: IncomingHttpHeaders, path = ''): Dialect {
  if (endpoint?.format !== undefined) return endpoint.format.dialect;
  if (endpoint?.dialect !== undefined) return endpoint.dialect;
  const vendor = findVendorSegment(path);
  if (vendor !== undefined) return vendor;
  return detectionOrder.find((name) => dialects[name].matchesClient(headers, path)) ?? 'openai';
}
