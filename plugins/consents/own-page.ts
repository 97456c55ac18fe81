import { object, string } from '#core/platform/schema.ts';
import { accountOf, defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { type Consent, listDeclaredConsents } from './section.ts';
import { recordConsent, type GivenConsent, readConsentsInForce, withdrawConsents } from './store.ts';

export const consentsPath = '/account/consents';

const giveForm = defineForm({
  path: `${consentsPath}/give`,
  fields: object(['digest'], { digest: string({ maxLength: 43 }) }),
  async submit({ digest }, request) {
    const { host, language } = request;
    const consent = listDeclaredConsents(host).find((declared) => declared.digest === digest);
    if (consent === undefined) throw new FieldErrors({ '': 'consents.changed' });
    await recordConsent(host.database, accountOf(request).id, consent, { language, place: 'account' });
    return new Redirect(`${consentsPath}?done=given`);
  },
});

/** Also withdraws a consent that gateway.yaml no longer declares. */
const withdrawForm = defineForm({
  path: `${consentsPath}/withdraw`,
  fields: object(['name'], { name: string({ maxLength: 40 }) }),
  async submit({ name }, request) {
    await withdrawConsents(request.host.database, accountOf(request).id, name);
    return new Redirect(`${consentsPath}?done=withdrawn`);
  },
});

export const consentsPage: Page = {
  path: consentsPath,
  role: 'account',
  title: 'consents.title',
  navigation: { label: 'consents.title', icon: 'check', order: 86, place: 'menu' },
  isListed: (host) => listDeclaredConsents(host).length > 0,
  template: 'consents/own.eta',
  async show(request) {
    const { host, t, query } = request;
    const declared = listDeclaredConsents(host);
    const inForce = await readConsentsInForce(host.database, accountOf(request).id);
    const isCurrent = (given: GivenConsent) => declared.some(({ digest }) => digest === given.digest);
    const doneAction = ['given', 'withdrawn'].find((action) => action === query['done']);
    return {
      done: doneAction === undefined ? '' : t(`consents.done.${doneAction}`),
      consents: [
        ...declared.map((consent) => describeConsent(consent, inForce, request)),
        ...inForce.filter((given) => !isCurrent(given)).map((given) => describeEarlierConsent(given, request)),
      ],
    };
  },
  forms: [giveForm, withdrawForm],
};

function describeConsent({ name, label, digest }: Consent, inForce: readonly GivenConsent[], request: PageRequest) {
  const { t, format, language } = request;
  const givenConsent = inForce.find((consent) => consent.digest === digest);
  const words = label[language];
  return givenConsent === undefined
    ? { words, state: t('consents.not_given'), act: 'give', field: 'digest', value: digest }
    : {
        words,
        state: t('consents.given', { day: format.day(givenConsent.givenAt).text }),
        ...describeWithdrawal(name),
      };
}

function describeEarlierConsent({ name, label, givenAt }: GivenConsent, { t, format, language }: PageRequest) {
  const state = t('consents.earlier', { day: format.day(givenAt).text });
  return { words: label[language], state, ...describeWithdrawal(name) };
}

const describeWithdrawal = (name: string) => ({ act: 'withdraw', field: 'name', value: name });
