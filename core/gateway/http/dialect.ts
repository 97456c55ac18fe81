import type { IncomingHttpHeaders } from 'node:http';
import { type Dialect, dialectNames, dialects } from '#core/platform/errors/dialects.ts';
import type { Endpoint } from '../pipeline/exchange.ts';
import { vendorSegment } from './paths.ts';

/**
 * Returns the dialect of the caller's error bodies. An endpoint usually determines it. On shared or unknown paths, it follows from the
 * vendor's name in the path, or else from headers that only one vendor's clients send.
 *
 * @param path path of the request, needed if the endpoint has no dialect
 */
export function callerDialect(endpoint: Endpoint | undefined, headers: IncomingHttpHeaders, path = ''): Dialect {
  if (endpoint?.format !== undefined) return endpoint.format.dialect;
  if (endpoint?.dialect !== undefined) return endpoint.dialect;
  const vendor = vendorSegment(path);
  if (vendor !== undefined) return vendor;
  return callerOrder.find((name) => dialects[name].matchesClient(headers, path)) ?? 'openai';
}

/** Google comes first, because its SDK expects Google's errors even with a key for Claude. */
const callerOrder = dialectNames.toReversed();
