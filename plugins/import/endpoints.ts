import type { Vendor } from '#core/config/catalog/catalog.ts';
import type { Reference } from './draft.ts';

/** Vendor presets by name. */
export type Vendors = ReadonlyMap<string, Vendor>;

/** Endpoint settings of an entry in `upstreams`. */
export interface UpstreamEndpoint {
  readonly vendor?: string | undefined;
  readonly formats?: readonly string[] | undefined;
  readonly baseUrl?: string | Reference | undefined;
  readonly auth?: string | undefined;
}

/** Other hosts of vendors according to their documentation, with the host of the preset's `baseUrl`. */
const otherHosts: Readonly<Record<string, string>> = {
  'api.moonshot.cn': 'api.moonshot.ai',
  'open.bigmodel.cn': 'api.z.ai',
  'dashscope.aliyuncs.com': 'dashscope-intl.aliyuncs.com',
  'api.minimaxi.com': 'api.minimax.io',
  'api.minimax.chat': 'api.minimax.io',
};

/** Endpoint paths, which gateway.yaml does not include in base URLs. */
const endpointPath = /\/(?:chat\/completions|completions|responses|messages|embeddings|models)?\/*$/;

/**
 * Finds the upstream settings for a URL: the vendor's preset if the host is known, with the URL if it differs from the preset's; otherwise
 * the URL with its format.
 *
 * @param url the base URL or an endpoint's URL
 * @returns undefined unless it is an HTTP URL without user, query and placeholders
 */
export function endpointAt(
  url: string,
  format: 'chat' | 'messages' | 'gemini',
  vendors: Vendors,
): UpstreamEndpoint | undefined {
  const parsed = URL.parse(url.trim());
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || /[?#{}@\s]/.test(url.trim())) return undefined;
  const baseUrl = `${parsed.origin}${parsed.pathname.replace(endpointPath, '')}`;
  const host = otherHosts[parsed.host] ?? parsed.host;
  const here = [...vendors.values()].filter((vendor) => vendor.isDemo !== true && hostOf(vendor) === host);
  const vendor =
    here.find(({ formats }) => formats[0] === format) ?? here.find(({ formats }) => formats.includes(format));
  if (vendor !== undefined) return { vendor: vendor.name, ...(vendor.baseUrl !== baseUrl && { baseUrl }) };
  return { formats: [format], baseUrl, ...(format === 'messages' && { auth: 'x-api-key' }) };
}

/** Undefined for a vendor without a fixed host, or with a local server, where other software may run as well. */
function hostOf({ baseUrl }: Vendor): string | undefined {
  const url = URL.parse(baseUrl ?? '');
  return url === null || url.hostname === '127.0.0.1' ? undefined : url.host;
}
