import type { CheckoutStep } from '#core/web/pages/checkout-step.ts';
import { accountOf, type PageRequest } from '#core/web/pages/page.ts';
import { languages } from '#core/web/texts/texts.ts';
import { ownPath } from './own-page.ts';
import { type Consent, declaredConsents, mostConsents } from './section.ts';
import { give, readInForce } from './store.ts';

/** Names a checkbox by its position, because a step declares its fields once, while gateway.yaml may change. */
const boxAt = (index: number) => `consent_${index + 1}`;

/** Shows an unticked checkbox at *Pay* for each consent that the account has not given. */
export const consentStep: CheckoutStep = {
  name: 'consents',
  fields: {
    /** Digests of the words in checkbox order. */
    consents: 44 * mostConsents,
    consents_in: 2,
    ...Object.fromEntries(Array.from({ length: mostConsents }, (_, index) => [boxAt(index), 1])),
  },
  async show(request) {
    const asked = await findAsked(request);
    if (asked.length === 0) return undefined;
    const { t, language, form } = request;
    const consents = asked.map(({ digest }) => digest).join(' ');
    // A rejected form returns its ticks by position. After a configuration change, the positions belong to different words.
    const before = form.values['consents'];
    if (before !== undefined && before !== consents) return undefined;
    return {
      boxes: asked.map(({ label }, index) => ({ name: boxAt(index), label: label[language] })),
      hidden: { consents, consents_in: language },
      boxNote: [{ text: t('consents.any_time') }, { text: t('consents.title'), path: ownPath }, { text: '.' }],
    };
  },
  submit({ consents = '', consents_in: shownIn, ...ticks }, { host }) {
    const language = languages.find((known) => known === shownIn);
    const ticked = new Set(consents.split(' ').filter((_, index) => ticks[boxAt(index)] === '1'));
    // Words that have changed meanwhile are not recorded. The purchase continues, and the next checkout shows the new words.
    const given = declaredConsents(host).filter(({ digest }) => ticked.has(digest));
    if (language === undefined || given.length === 0) return undefined;
    return async (transaction, { accountId }) => {
      await give(transaction, accountId, given, { language, place: 'checkout' });
      return [];
    };
  },
};

async function findAsked(request: PageRequest): Promise<Consent[]> {
  const declared = declaredConsents(request.host);
  if (declared.length === 0) return [];
  const inForce = await readInForce(request.host.database, accountOf(request).id);
  return declared.filter(({ digest }) => !inForce.some((consent) => consent.digest === digest));
}
