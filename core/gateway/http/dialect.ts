import type { IncomingHttpHeaders } from 'node:http';
import { type Dialect, dialectNames, dialects } from '#core/platform/errors/dialects.ts';
import type { Endpoint } from '../pipeline/exchange.ts';
import { findVendorSegment } from './paths.ts';

const detectionOrder = dialectNames.toReversed(); // Google first: its SDK expects Google's errors even with a key for Claude

/** Detects the dialect from the endpoint. On shared and unknown paths, uses the vendor's name in the path, or else the headers. */
export function detectDialect(endpoint: Endpoint | undefined, headers: IncomingHttpHeaders, path = ''): Dialect {
  if (endpoint?.format !== undefined) return endpoint.format.dialect;
  if (endpoint?.dialect !== undefined) return endpoint.dialect;
  const vendor = findVendorSegment(path);
  if (vendor !== undefined) return vendor;
  return detectionOrder.find((name) => dialects[name].matchesClient(headers, path)) ?? 'openai';
}
