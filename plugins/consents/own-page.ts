import { object, string } from '#core/platform/schema.ts';
import { accountOf, defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { type Consent, declaredConsents } from './section.ts';
import { giveNow, type GivenConsent, readInForce, withdraw } from './store.ts';

export const ownPath = '/account/consents';

const giveForm = defineForm({
  path: `${ownPath}/give`,
  fields: object(['digest'], { digest: string({ maxLength: 43 }) }),
  async submit({ digest }, request) {
    const { host, language } = request;
    const consent = declaredConsents(host).find((one) => one.digest === digest);
    if (consent === undefined) throw new FieldErrors({ '': 'consents.changed' });
    await giveNow(host.database, accountOf(request).id, consent, { language, place: 'account' });
    return new Redirect(`${ownPath}?done=given`);
  },
});

/** Withdraws a consent, even if gateway.yaml no longer declares it. */
const withdrawForm = defineForm({
  path: `${ownPath}/withdraw`,
  fields: object(['name'], { name: string({ maxLength: 40 }) }),
  async submit({ name }, request) {
    await withdraw(request.host.database, accountOf(request).id, name);
    return new Redirect(`${ownPath}?done=withdrawn`);
  },
});

/** `/account/consents`: given and available consents of an account, each with one button. */
export const ownPage: Page = {
  path: ownPath,
  role: 'account',
  title: 'consents.title',
  navigation: { label: 'consents.title', icon: 'check', order: 86, place: 'menu' },
  isListed: (host) => declaredConsents(host).length > 0,
  template: 'consents/own.eta',
  async show(request) {
    const { host, t, query } = request;
    const declared = declaredConsents(host);
    const inForce = await readInForce(host.database, accountOf(request).id);
    const isCurrent = (given: GivenConsent) => declared.some(({ digest }) => digest === given.digest);
    const done = ['given', 'withdrawn'].find((one) => one === query['done']);
    return {
      done: done === undefined ? '' : t(`consents.done.${done}`),
      consents: [
        ...declared.map((consent) => describe(consent, inForce, request)),
        ...inForce.filter((given) => !isCurrent(given)).map((given) => describeEarlier(given, request)),
      ],
    };
  },
  forms: [giveForm, withdrawForm],
};

function describe({ name, label, digest }: Consent, inForce: readonly GivenConsent[], request: PageRequest) {
  const { t, format, language } = request;
  const given = inForce.find((consent) => consent.digest === digest);
  const words = label[language];
  return given === undefined
    ? { words, state: t('consents.not_given'), act: 'give', field: 'digest', value: digest }
    : { words, state: t('consents.given', { day: format.day(given.givenAt).text }), ...withdrawing(name) };
}

/** Describes a given consent whose words are no longer in use. */
function describeEarlier({ name, label, givenAt }: GivenConsent, { t, format, language }: PageRequest) {
  const state = t('consents.earlier', { day: format.day(givenAt).text });
  return { words: label[language], state, ...withdrawing(name) };
}

const withdrawing = (name: string) => ({ act: 'withdraw', field: 'name', value: name });
