import { isLoopback } from '#core/platform/names/loopback.ts';
import type { Production, SectionValues } from '../section.ts';
import { service } from './core-sections.ts';

const environmentReason: Production = { because: 'with NODE_ENV=production', unless: '' };
const publicUrlReason: Production = {
  because: 'while service.base_url is not this machine',
  unless: ', or for a demonstration set service: { unsafe_public_demo: true }',
};

/**
 * Returns why demos are refused: strangers may reach this gateway, because NODE_ENV is production or `service.base_url` is not this
 * machine. Sandbox payments, demo upstreams, test credentials and local sign-in are then refused, and there is no demo account; otherwise,
 * anyone could confirm their own payment (docs/decisions/0032-a-public-url-is-production.md).
 *
 * @returns undefined if demos are allowed
 */
export function findProductionReason(values: SectionValues, isProductionEnvironment: boolean): Production | undefined {
  if (isProductionEnvironment) return environmentReason;
  return isPublic(values) && !values.get(service).unsafe_public_demo ? publicUrlReason : undefined;
}

/** Returns true if the operator has allowed demos on a public gateway. Every page then says so. */
export function isPublicDemo(values: SectionValues, isProductionEnvironment: boolean): boolean {
  return isPublic(values) && findProductionReason(values, isProductionEnvironment) === undefined;
}

function isPublic(values: SectionValues): boolean {
  const { base_url: url = '' } = values.get(service);
  // LAN addresses count as public.
  return url !== '' && !isLoopback(URL.parse(url)?.hostname ?? '');
}
