import type { IncomingHttpHeaders } from 'node:http';
import { type Dialect, dialectNames, dialects } from '#core/platform/errors/dialects.ts';
import type { Endpoint } from '../pipeline/exchange.ts';
import { vendorSegment } from './paths.ts';

/**
 * Returns the dialect of the caller's error bodies. The path decides; on shared paths, the vendor's name in the path, or else headers sent
 * only by one vendor's clients.
 *
 * @param path decides if there is no endpoint
 */
export function callerDialect(endpoint: Endpoint | undefined, headers: IncomingHttpHeaders, path = ''): Dialect {
  if (endpoint?.format !== undefined) return endpoint.format.dialect;
  if (endpoint?.dialect !== undefined) return endpoint.dialect;
  const vendor = vendorSegment(path);
  if (vendor !== undefined) return vendor;
  return callerOrder.find((name) => dialects[name].isCaller(headers, path)) ?? 'openai';
}

/** Google first: its SDK expects Google's errors even with a key for Claude. */
const callerOrder = dialectNames.toReversed();
