import { isLoopback } from '#core/platform/names/loopback.ts';
import type { Production, SectionValues } from '../section.ts';
import { service } from './core-sections.ts';

const ofEnvironment: Production = { because: 'with NODE_ENV=production', unless: '' };
const ofPublicUrl: Production = {
  because: 'while service.base_url is not this machine',
  unless: ', or for a demonstration set service: { unsafe_public_demo: true }',
};

/**
 * Decides, in one place, whether strangers may reach this gateway. If so, sandbox payments, demo upstreams, test credentials and
 * local sign-in are refused, and there is no demo account. It holds with NODE_ENV=production, and if `service.base_url` is another
 * machine, where anyone could confirm their own payment (docs/decisions/0032-a-public-url-is-production.md).
 *
 * @returns undefined if demos are allowed
 */
export function productionOf(values: SectionValues, isProductionEnvironment: boolean): Production | undefined {
  if (isProductionEnvironment) return ofEnvironment;
  return isPublic(values) && !values.get(service).unsafe_public_demo ? ofPublicUrl : undefined;
}

/** Returns true if the operator has allowed strangers to reach demos. Every page then shows a notice. */
export function isPublicDemo(values: SectionValues, isProductionEnvironment: boolean): boolean {
  return isPublic(values) && productionOf(values, isProductionEnvironment) === undefined;
}

/** True unless the public URL is a loopback address or name; LAN addresses count as public. */
function isPublic(values: SectionValues): boolean {
  const { base_url: url = '' } = values.get(service);
  return url !== '' && !isLoopback(URL.parse(url)?.hostname ?? '');
}
