import type { PageRequest } from '#core/web/pages/page.ts';
import { sellerSection } from './other-sections.ts';

export function describeSeller({
  host,
  t,
}: Pick<PageRequest, 'host' | 't'>): (readonly [string, string])[] | undefined {
  const { name, address, registrations = [] } = host.section(sellerSection);
  const rows: [string, string | undefined][] = [
    [t('shop_pages.seller'), name],
    [t('shop_pages.address'), address],
    [t('shop_pages.registrations'), registrations.length === 0 ? undefined : registrations.join(', ')],
  ];
  const filledRows = rows.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const]));
  return filledRows.length === 0 ? undefined : filledRows;
}
