import type { Vendor } from '#core/config/catalog/catalog.ts';
import type { Reference } from './draft.ts';

/** The presets of vendors, by their names. */
export type Vendors = ReadonlyMap<string, Vendor>;

/** Where an upstream is, in the members of `upstreams`. */
export interface UpstreamEndpoint {
  readonly vendor?: string | undefined;
  readonly formats?: readonly string[] | undefined;
  readonly baseUrl?: string | Reference | undefined;
  readonly auth?: string | undefined;
}

/** Further hosts of vendors, as their documentation names them; `baseUrl` of a preset is one of them. */
const otherHosts: Readonly<Record<string, string>> = {
  'api.moonshot.cn': 'api.moonshot.ai',
  'open.bigmodel.cn': 'api.z.ai',
  'dashscope.aliyuncs.com': 'dashscope-intl.aliyuncs.com',
  'api.minimaxi.com': 'api.minimax.io',
  'api.minimax.chat': 'api.minimax.io',
};

/** Paths of endpoints, which follow a base URL here. */
const endpointPath = /\/(?:chat\/completions|completions|responses|messages|embeddings|models)?\/*$/;

/**
 * The upstream at a URL: a preset's where its vendor is there, with the URL where that is not the preset's; otherwise the URL with its
 * format.
 *
 * @param url the base URL, or that of an endpoint
 * @returns undefined for a text that is no URL of HTTP, or has a user, a query or placeholders
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

/** Undefined for a vendor without a host of its own, or with a server on this machine, where anything else may be as well. */
function hostOf({ baseUrl }: Vendor): string | undefined {
  const url = URL.parse(baseUrl ?? '');
  return url === null || url.hostname === '127.0.0.1' ? undefined : url.host;
}
