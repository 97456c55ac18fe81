import type { Host } from '#core/gateway/host/host.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { homePath } from './next-path.ts';
import { listProviders } from './section.ts';

/** Uses the public URL: the provider sends the reader back there, and the cookie set when the sign-in starts must be available. */
export function formatStartUrl(host: Host, provider: string, query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(query).toString();
  return `${host.service.baseUrl}/sign-in/${provider}${parameters === '' ? '' : `?${parameters}`}`;
}

export function describeProviders(host: Host, next: string) {
  return listProviders(host).map(({ name, title }) => ({
    name,
    title,
    url: formatStartUrl(host, name, next === homePath ? {} : { next }),
  }));
}

/** Anyone can set the query, so it only selects one of these texts. */
export function readErrorText({ query, t }: PageRequest, pageErrors: readonly string[]): string {
  const code = ['cancelled', 'expired', 'failed', 'too_many', ...pageErrors].find((name) => name === query['error']);
  return code === undefined ? '' : t(`sign_in.error.${code}`);
}
