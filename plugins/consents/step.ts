import type { CheckoutStep } from '#core/web/pages/checkout-step.ts';
import { accountOf, type PageRequest } from '#core/web/pages/page.ts';
import { languages } from '#core/web/texts/texts.ts';
import { consentsPath } from './own-page.ts';
import { type Consent, listDeclaredConsents, maxConsents } from './section.ts';
import { recordConsents, readConsentsInForce } from './store.ts';

/** Names boxes by position, because a step declares its fields only once, while the consents in gateway.yaml may change. */
const getBoxName = (index: number) => `consent_${index + 1}`;

/** Shows an unticked checkbox at *Pay* for each consent that the account has not given yet. */
export const consentStep: CheckoutStep = {
  name: 'consents',
  fields: {
    consents: 44 * maxConsents, // digests of the words, in checkbox order
    consents_in: 2,
    ...Object.fromEntries(Array.from({ length: maxConsents }, (_, index) => [getBoxName(index), 1])),
  },
  async show(request) {
    const missingConsents = await findMissingConsents(request);
    if (missingConsents.length === 0) return undefined;
    const { t, language, form } = request;
    const consents = missingConsents.map(({ digest }) => digest).join(' ');
    // A rejected form restores its ticks by position. If the consents have changed since, a position may belong to different words, so no
    // boxes are shown.
    const submittedConsents = form.values['consents'];
    if (submittedConsents !== undefined && submittedConsents !== consents) return undefined;
    return {
      boxes: missingConsents.map(({ label }, index) => ({ name: getBoxName(index), label: label[language] })),
      hidden: { consents, consents_in: language },
      boxNote: [{ text: t('consents.any_time') }, { text: t('consents.title'), path: consentsPath }, { text: '.' }],
    };
  },
  submit({ consents = '', consents_in: shownLanguage, ...ticks }, { host }) {
    const language = languages.find((supported) => supported === shownLanguage);
    const tickedDigests = new Set(consents.split(' ').filter((_, index) => ticks[getBoxName(index)] === '1'));
    // Words that changed in the meantime are not recorded. The purchase continues, and the next checkout shows the new words.
    const givenConsents = listDeclaredConsents(host).filter(({ digest }) => tickedDigests.has(digest));
    if (language === undefined || givenConsents.length === 0) return undefined;
    return async (transaction, { accountId }) => {
      await recordConsents(transaction, accountId, givenConsents, { language, place: 'checkout' });
      return [];
    };
  },
};

async function findMissingConsents(request: PageRequest): Promise<Consent[]> {
  const declared = listDeclaredConsents(request.host);
  if (declared.length === 0) return [];
  const inForce = await readConsentsInForce(request.host.database, accountOf(request).id);
  return declared.filter(({ digest }) => !inForce.some((consent) => consent.digest === digest));
}
