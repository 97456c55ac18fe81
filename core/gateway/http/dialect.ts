import type { IncomingHttpHeaders } from 'node:http';
import { type Dialect, dialectNames, dialects } from '#core/platform/errors/dialects.ts';
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
  return callerOrder.find((name) => dialects[name].isCaller(headers, path)) ?? 'openai';
}

/** Google's SDK with a key for Claude, too, reads what Google sends. */
const callerOrder = dialectNames.toReversed();
