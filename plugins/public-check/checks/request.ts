import { failed, type Finding, ok } from '#core/gateway/diagnosis/finding.ts';
import { parseObject } from '#core/platform/json.ts';
import { describeUnexpectedResponse, type PublicResponse, type PublicCaller } from '../caller.ts';
import { type Arrival, publicPaths } from '../paths.ts';

const longHeaderBytes = 12_000; // the size of large corporate cookies and tokens; the gateway accepts 16 KB of headers in total

/** SDKs put model names into the path, with `/` encoded as `%2F`. */
export async function checkEncodedSlash(caller: PublicCaller, signal: AbortSignal): Promise<Finding> {
  const response = await caller.call(`${publicPaths.arrived}/dp%2Fname`, { signal });
  const advice =
    'The proxy must forward paths unchanged: AllowEncodedSlashes NoDecode and nocanon in Apache; nginx needs a proxy_pass without a path.';
  const arrival = parseArrival(response);
  if (arrival === undefined) return describeUnexpectedResponse(response, advice);
  if (/\/dp%2fname$/i.test(arrival.path)) return ok('arrives as it was sent');
  return failed(`/dp%2Fname arrives as ${arrival.path.slice(publicPaths.arrived.length, 100)}`, advice);
}

export async function checkLongBody(caller: PublicCaller, bytes: number, signal: AbortSignal): Promise<Finding> {
  const body = Buffer.alloc(bytes, 'x');
  const response = await caller.call(publicPaths.body, { method: 'POST', body, signal });
  const size = `${(bytes / 1_000_000).toLocaleString('en')} MB`;
  const advice =
    "Remove the proxy's body size limit (client_max_body_size 0 in nginx), because the gateway has its own. A slow line needs longer timeouts.";
  if (response.status !== 200 || parseObject(response.text)?.['bytes'] !== bytes)
    return describeUnexpectedResponse(response, advice);
  return ok(`${size} in ${response.seconds.toFixed(1)} s`);
}

export async function checkLongHeader(caller: PublicCaller, signal: AbortSignal): Promise<Finding> {
  const response = await caller.call(publicPaths.arrived, {
    headers: { 'x-long': 'x'.repeat(longHeaderBytes) },
    signal,
  });
  const advice = "Raise the proxy's header limits (docs/proxies.md).";
  const length = parseArrival(response)?.headers['x-long']?.length;
  if (length === longHeaderBytes) return ok(`${longHeaderBytes / 1000} KB arrive`);
  return { ...describeUnexpectedResponse(response, advice), state: 'warning' };
}

export function parseArrival({ status, text }: PublicResponse): Arrival | undefined {
  const value = status === 200 || status === 426 ? parseObject(text) : undefined;
  return typeof value?.['path'] === 'string' ? (value as unknown as Arrival) : undefined;
}
