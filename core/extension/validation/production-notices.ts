import { isLoopback } from '#core/platform/names/loopback.ts';
import { isPublicDemo, productionOf } from '#core/config/sections/production.ts';
import type { SectionValues } from '#core/config/section.ts';
import { listen, service } from '#core/config/sections/core-sections.ts';

/** Returns warnings about a valid configuration that may not be intended. */
export function productionNotices(values: SectionValues, isProductionEnvironment: boolean): string[] {
  const { base_url: url = '' } = values.get(service);
  const { host } = values.get(listen);
  const notices: string[] = [];
  if (productionOf(values, isProductionEnvironment) !== undefined) return notices;
  if (isPublicDemo(values, isProductionEnvironment))
    notices.push(
      'service.unsafe_public_demo is true: strangers may sign in, get answers that no model gave, and pay without money; every page says so',
    );
  else if (url === '' && !isLoopback(host))
    notices.push(
      `other machines reach this gateway (listen.host is ${host}), and it has demos: set service.base_url to its public URL, which refuses them, before others use it`,
    );
  return notices;
}
