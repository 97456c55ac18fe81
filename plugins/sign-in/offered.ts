import type { Host } from '#core/gateway/host/host.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { homePath } from './next-path.ts';
import { configuredProviders } from './section.ts';

/**
 * Returns the URL that starts a sign-in with a provider. It is below the public URL, because the provider sends the reader back there, and
 * the cookie set at the start must be available.
 */
export function startUrl(host: Host, provider: string, query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(query).toString();
  return `${host.service.baseUrl}/sign-in/${provider}${parameters === '' ? '' : `?${parameters}`}`;
}

/** Buttons of the sign-in page. */
export function offeredProviders(host: Host, next: string) {
  return configuredProviders(host).map(({ name, title }) => ({
    name,
    title,
    url: startUrl(host, name, next === homePath ? {} : { next }),
  }));
}

/**
 * Returns the error text of a failed sign-in. Anyone can set the query, so it only selects a text. @param own error codes of this page only
 */
export function errorFrom({ query, t }: PageRequest, own: readonly string[]): string {
  const code = ['cancelled', 'expired', 'failed', 'too_many', ...own].find((name) => name === query['error']);
  return code === undefined ? '' : t(`sign_in.error.${code}`);
}
