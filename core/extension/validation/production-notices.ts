import type { SectionValues } from '#core/config/section.ts';
import { listen, service } from '#core/config/sections/core-sections.ts';
import { isPublicDemo, findProductionReason } from '#core/config/sections/production.ts';
import { isLoopback } from '#core/platform/names/loopback.ts';

/** Returns warnings about configurations that are valid but serve demos to strangers, which is probably unintended. */
export function findProductionNotices(values: SectionValues, isProductionEnvironment: boolean): string[] {
  const { base_url: url = '' } = values.get(service);
  const { host } = values.get(listen);
  if (findProductionReason(values, isProductionEnvironment) !== undefined) return [];
  if (isPublicDemo(values, isProductionEnvironment))
    return [
      'service.unsafe_public_demo is true: strangers may sign in, get answers that no model generated, and buy plans without paying; every page says so',
    ];
  if (url !== '' || isLoopback(host)) return [];
  return [
    `other machines can reach this gateway (listen.host is ${host}), and it offers demos: before others use it, set service.base_url to its public URL; demos are then refused`,
  ];
}
