import { currencySection, formatMoneyForTerminal, plansSection } from '#core/business/accounts/plans.ts';
import type { ReviewedHost } from '#core/extension/registry.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';
import { sellerSection } from './other-sections.ts';
import { shopPages } from './shop-pages.ts';

/*
 * Facts of gateway.yaml that pages repeat. Only the wording of the drafts is checked: custom wording cannot be parsed, so it causes no
 * notices.
 */

/** Sentences in the drafts that name seller and address. */
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

/** Finds pages that name another seller or address than receipts do. */
export function sellerNotes(host: ReviewedHost): string[] {
  const { name, address } = host.section(sellerSection);
  if (name === undefined) return [];
  return sentencesOf(host).flatMap(({ file, stated }) => {
    if (stated.includes('{{')) return [];
    if (!letters(stated).includes(letters(name)))
      return [
        `pages: ${file} names another seller than seller.name, which receipts have: correct the one that is wrong`,
      ];
    const isAddressed = /\d/.test(letters(stated).replace(letters(name), ''));
    if (address === undefined || !isAddressed || letters(stated).includes(letters(address))) return [];
    return [
      `pages: ${file} names another address than seller.address, which receipts have: correct the one that is wrong`,
    ];
  });
}

function sentencesOf(host: ReviewedHost): { readonly file: string; readonly stated: string }[] {
  const { texts } = shopPages(host);
  return Object.entries(sellerSentences).flatMap(([page, sentences]) =>
    languages.flatMap((language) => {
      const stated = sentences[language].exec(texts.get(page)?.[language]?.body ?? '')?.[1];
      return stated === undefined ? [] : [{ file: `${page}.${language}.md`, stated }];
    }),
  );
}

/** Drops punctuation and spaces, which may differ in the same name. */
const letters = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** Finds price rows in the terms, `| 1 day | Rp 18.000 |`, that match no plan's days and price. */
export function priceNotes(host: ReviewedHost): string[] {
  const terms = shopPages(host).texts.get('terms');
  const currency = host.section(currencySection);
  const plans = host.section(plansSection);
  const symbol = /^\D*/.exec(formatMoneyForTerminal(1, currency))?.[0].trim() ?? '';
  return languages.flatMap((language) => {
    const rows = [...(terms?.[language]?.body ?? '').matchAll(/^\|\s*(\d+)\s+(?:days?|hari)\s*\|([^|\n]+)\|\s*$/gim)];
    const wrong = rows.flatMap(([, days, price = '']) => {
      if (symbol === '' || !price.trim().startsWith(symbol)) return [];
      const isOffered = plans.some(
        (plan) => plan.days === Number(days) && digits(formatMoneyForTerminal(plan.price, currency)) === digits(price),
      );
      return isOffered ? [] : [`${days} days for ${price.trim()}`];
    });
    if (wrong.length === 0) return [];
    return [`pages: terms.${language}.md sells ${wrong.join(', ')}, and no plan does: correct the page, or plans`];
  });
}

/** Digits of an amount, without zero cents. */
const digits = (text: string) => text.replace(/[.,](?:00|-)\s*$/, '').replaceAll(/\D/g, '');
