import { isLoopback } from '#core/platform/names/loopback.ts';
import { paymentsSection } from '#core/business/payments/section.ts';
import { isPublicDemo, productionOf } from '#core/config/sections/production.ts';
import type { SectionValues } from '#core/config/section.ts';
import { listen, service } from '#core/config/sections/core-sections.ts';

const exampleContact = 'mailto:you@example.com';

/** Warnings about a configuration that is valid, but may not be what its operator wants. */
export function productionNotices(values: SectionValues, isProductionEnvironment: boolean): string[] {
  const { contact, base_url: url = '' } = values.get(service);
  const { host } = values.get(listen);
  const notices: string[] = [];
  if (productionOf(values, isProductionEnvironment) === undefined) {
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
  const { provider } = values.get(paymentsSection);
  if (provider === undefined)
    notices.push('nothing is sold: payments.provider is not set, and NODE_ENV=production has no sandbox');
  if (contact === exampleContact)
    notices.push(`service.contact is the example ${exampleContact}: customers who need help write there`);
  return notices;
}
