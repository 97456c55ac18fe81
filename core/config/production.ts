import { isLoopback } from '../http/loopback.ts';
import { paymentsSection } from '../payments/section.ts';
import type { Production, SectionValues } from './section.ts';
import { listen, service } from './sections.ts';

const exampleContact = 'mailto:you@example.com';
const ofEnvironment: Production = { because: 'with NODE_ENV=production', unless: '' };
const ofPublicUrl: Production = {
  because: 'while service.base_url is not this machine',
  unless: ', or for a demonstration set service: { unsafe_public_demo: true }',
};

/**
 * The one answer to whether strangers may reach this gateway: sandbox payments, demo upstreams, test credentials and local
 * sign-in are refused, and there is no demo account. So it is with NODE_ENV=production, and when `service.base_url` names
 * another machine than this one: anyone may pay himself there (docs/decisions/0032-a-public-url-is-production.md).
 *
 * @returns undefined where demos are allowed
 */
export function productionOf(values: SectionValues, isProductionEnvironment: boolean): Production | undefined {
  if (isProductionEnvironment) return ofEnvironment;
  return isPublic(values) && !values.get(service).unsafe_public_demo ? ofPublicUrl : undefined;
}

/** True when strangers can reach demos, because the operator has allowed it. Every page says so. */
export function isPublicDemo(values: SectionValues, isProductionEnvironment: boolean): boolean {
  return isPublic(values) && productionOf(values, isProductionEnvironment) === undefined;
}

/** True when the public URL is not that of this machine: loopback addresses and names are, those of the LAN are not. */
function isPublic(values: SectionValues): boolean {
  const { base_url: url = '' } = values.get(service);
  return url !== '' && !isLoopback(URL.parse(url)?.hostname ?? '');
}

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
