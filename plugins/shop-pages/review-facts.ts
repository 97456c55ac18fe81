import { formatMoneyForTerminal } from '#core/business/accounts/money.ts';
import { currencySection, plansSection } from '#core/business/accounts/plans.ts';
import type { ReviewedHost } from '#core/extension/registry.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';
import { sellerSection } from './other-sections.ts';
import { getShopPages } from './shop-pages.ts';

/*
 * Facts in gateway.yaml that pages repeat. They are checked only where the page still has the draft's wording, because other wording cannot
 * be parsed.
 */

const sellerSentences: Readonly<Record<string, Readonly<Record<Language, RegExp>>>> = {
  terms: {
    en: /between you and the seller, (.+?), who runs/s,
    id: /antara kamu dan penjual, (.+?), yang menjalankan/s,
  },
  privacy: {
    en: /^((?:.|\n(?!\n))+?) is responsible for personal data at/m,
    id: /^((?:.|\n(?!\n))+?) bertanggung jawab atas data pribadi di/m,
  },
  contact: { en: / is run by (.+?)\.$/ms, id: / dijalankan oleh (.+?)\.$/ms },
};

export function findSellerMistakes(host: ReviewedHost): string[] {
  const { name, address } = host.section(sellerSection);
  if (name === undefined) return [];
  return findSellerSentences(host).flatMap(({ file, stated }) => {
    if (stated.includes('{{')) return [];
    if (!normalizeText(stated).includes(normalizeText(name)))
      return [`pages: ${file} names a seller other than seller.name, which is on receipts: correct whichever is wrong`];
    const namesAddress = /\d/.test(normalizeText(stated).replace(normalizeText(name), ''));
    if (address === undefined || !namesAddress || normalizeText(stated).includes(normalizeText(address))) return [];
    return [
      `pages: ${file} names an address other than seller.address, which is on receipts: correct whichever is wrong`,
    ];
  });
}

function findSellerSentences(host: ReviewedHost): { readonly file: string; readonly stated: string }[] {
  const { texts } = getShopPages(host);
  return Object.entries(sellerSentences).flatMap(([page, sentences]) =>
    languages.flatMap((language) => {
      const stated = sentences[language].exec(texts.get(page)?.[language]?.body ?? '')?.[1];
      return stated === undefined ? [] : [{ file: `${page}.${language}.md`, stated }];
    }),
  );
}

/** The same name may differ in punctuation and spaces. */
const normalizeText = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** Price rows look like `| 1 day | Rp 18.000 |`. */
export function findPriceMistakes(host: ReviewedHost): string[] {
  const terms = getShopPages(host).texts.get('terms');
  const currency = host.section(currencySection);
  const plans = host.section(plansSection);
  const symbol = /^\D*/.exec(formatMoneyForTerminal(1, currency))?.[0].trim() ?? '';
  return languages.flatMap((language) => {
    const priceRows = [
      ...(terms?.[language]?.body ?? '').matchAll(/^\|\s*(\d+)\s+(?:days?|hari)\s*\|([^|\n]+)\|\s*$/gim),
    ];
    const unknownPrices = priceRows.flatMap(([, days, price = '']) => {
      if (symbol === '' || !price.trim().startsWith(symbol)) return [];
      const isOffered = plans.some(
        (plan) =>
          plan.days === Number(days) &&
          normalizeAmount(formatMoneyForTerminal(plan.price, currency)) === normalizeAmount(price),
      );
      return isOffered ? [] : [`${days} days for ${price.trim()}`];
    });
    if (unknownPrices.length === 0) return [];
    return [
      `pages: terms.${language}.md lists ${unknownPrices.join(', ')}, which no plan offers: correct the page, or plans`,
    ];
  });
}

/** Leaves out cents that are zero. */
const normalizeAmount = (text: string) => text.replace(/[.,](?:00|-)\s*$/, '').replaceAll(/\D/g, '');
