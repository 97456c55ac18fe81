import { paymentsSection } from '../payments/section.ts';
import type { Config } from './load.ts';
import { service } from './sections.ts';

const exampleContact = 'mailto:you@example.com';

/** Warnings about a configuration that is valid, but whose customers could not buy or ask for help. */
export function productionNotices(config: Pick<Config, 'get'>, isProduction: boolean): string[] {
  if (!isProduction) return [];
  return [
    ...(config.get(paymentsSection).provider === undefined
      ? ['nothing is sold: payments.provider is not set, and NODE_ENV=production has no sandbox']
      : []),
    ...(config.get(service).contact === exampleContact
      ? [`service.contact is the example ${exampleContact}: customers who need help write there`]
      : []),
  ];
}
