import type { Vendor } from '#core/config/catalog/catalog.ts';
import type { DraftUpstream } from './draft.ts';

export type Vendors = ReadonlyMap<string, Vendor>;

export type UpstreamEndpoint = Pick<DraftUpstream, 'vendor' | 'formats' | 'baseUrl' | 'auth'>;

const presetHostsByAlias: Readonly<Record<string, string>> = {
  'api.moonshot.cn': 'api.moonshot.ai',
  'open.bigmodel.cn': 'api.z.ai',
  'dashscope.aliyuncs.com': 'dashscope-intl.aliyuncs.com',
  'api.minimaxi.com': 'api.minimax.io',
  'api.minimax.chat': 'api.minimax.io',
};

const endpointPath = /\/(?:chat\/completions|completions|responses|messages|embeddings|models)?\/*$/;

/**
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
  const host = presetHostsByAlias[parsedUrl.host] ?? parsedUrl.host;
  const candidates = [...vendors.values()].filter((vendor) => vendor.isDemo !== true && getPresetHost(vendor) === host);
  const vendor =
    candidates.find(({ formats }) => formats[0] === format) ??
    candidates.find(({ formats }) => formats.includes(format));
  if (vendor !== undefined) return { vendor: vendor.name, ...(vendor.baseUrl !== baseUrl && { baseUrl }) };
  return { formats: [format], baseUrl, ...(format === 'messages' && { auth: 'x-api-key' }) };
}

function getPresetHost({ baseUrl }: Vendor): string | undefined {
  const url = URL.parse(baseUrl ?? '');
  // Other software may run at a local address.
  return url === null || url.hostname === '127.0.0.1' ? undefined : url.host;
}
