import type { Vendor } from '#core/config/catalog/catalog.ts';
import type { DraftUpstream } from './draft.ts';

export type Vendors = ReadonlyMap<string, Vendor>;

/** Settings of an `upstreams` entry that are about its endpoint. */
export type UpstreamEndpoint = Pick<DraftUpstream, 'vendor' | 'formats' | 'baseUrl' | 'auth'>;

/** Hosts in the presets' `baseUrl`, by other hosts that the vendor documents. */
const presetHosts: Readonly<Record<string, string>> = {
  'api.moonshot.cn': 'api.moonshot.ai',
  'open.bigmodel.cn': 'api.z.ai',
  'dashscope.aliyuncs.com': 'dashscope-intl.aliyuncs.com',
  'api.minimaxi.com': 'api.minimax.io',
  'api.minimax.chat': 'api.minimax.io',
};

/** Endpoint paths, which base URLs in gateway.yaml do not include. */
const endpointPath = /\/(?:chat\/completions|completions|responses|messages|embeddings|models)?\/*$/;

/**
 * Finds the upstream settings for a URL. For a known host, returns the vendor's preset, with the URL if it differs; for others, the URL
 * with its format.
 *
 * @param url the base URL, or the URL of an endpoint
 * @returns undefined unless it is an HTTP URL without user, query and placeholders
 */
export function findEndpoint(
  url: string,
  format: 'chat' | 'messages' | 'gemini',
  vendors: Vendors,
): UpstreamEndpoint | undefined {
  const parsedUrl = URL.parse(url.trim());
  if (parsedUrl === null || !/^https?:$/.test(parsedUrl.protocol) || /[?#{}@\s]/.test(url.trim())) return undefined;
  const baseUrl = `${parsedUrl.origin}${parsedUrl.pathname.replace(endpointPath, '')}`;
  const host = presetHosts[parsedUrl.host] ?? parsedUrl.host;
  const candidates = [...vendors.values()].filter((vendor) => vendor.isDemo !== true && getPresetHost(vendor) === host);
  const vendor =
    candidates.find(({ formats }) => formats[0] === format) ??
    candidates.find(({ formats }) => formats.includes(format));
  if (vendor !== undefined) return { vendor: vendor.name, ...(vendor.baseUrl !== baseUrl && { baseUrl }) };
  return { formats: [format], baseUrl, ...(format === 'messages' && { auth: 'x-api-key' }) };
}

/** Returns a vendor's host; undefined if it has none, or if it is local, where other software may run. */
function getPresetHost({ baseUrl }: Vendor): string | undefined {
  const url = URL.parse(baseUrl ?? '');
  return url === null || url.hostname === '127.0.0.1' ? undefined : url.host;
}
