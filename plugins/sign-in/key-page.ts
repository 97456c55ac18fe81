import { issueFirstKey, rotateKey } from '#core/business/accounts/account-key.ts';
import { findActivePeriod, readAccounts } from '#core/business/accounts/account-record.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, defineForm, type Page } from '#core/web/pages/page.ts';

const path = '/account/key';
const noFields = { type: 'object' } as const;

/** This response is the only place where the key appears. */
const revealForm = defineForm({
  path: `${path}/show`,
  fields: noFields,
  async submit(_input, request) {
    const { database, service } = request.host;
    const issued = await issueFirstKey(database, service.prefix, accountOf(request).id);
    // If the key has already been shown, for example in another tab, the page shows only the hint.
    return issued === undefined ? {} : { key: issued.key };
  },
});

const rotateForm = defineForm({
  path: `${path}/rotate`,
  fields: noFields,
  once: true, // a resubmission would rotate the key again
  async submit(_input, request) {
    const { database, service } = request.host;
    const { key } = await rotateKey(database, service.prefix, accountOf(request).id);
    return { key, isRotated: true };
  },
});

/** The full key is shown once; after that, only its hint. */
export const keyPage: Page = {
  path,
  role: 'account',
  title: 'sign_in.key.title',
  navigation: { label: 'sign_in.key.navigation', icon: 'key', order: 20, place: 'menu' },
  template: 'sign-in/key.eta',
  async show(request) {
    const { host } = request;
    const [record] = await readAccounts(host.database, 'id', [accountOf(request).id]);
    if (record?.key === undefined) throw new PageError(404, 'error.404.text');
    const { hint, isShown, createdAt, rotatedAt } = record.key;
    return {
      key: '',
      isRotated: false,
      isShown,
      hint,
      since: request.format.time(rotatedAt ?? createdAt),
      baseUrl: `${host.service.baseUrl}/v1`,
      hasPlan: findActivePeriod(record, record.readAt) !== undefined,
    };
  },
  forms: [revealForm, rotateForm],
};

/** Only used without JavaScript; otherwise a dialog asks. */
export const rotatePage: Page = {
  path: `${path}/rotate`,
  role: 'account',
  layout: 'plain',
  title: 'sign_in.key.rotate',
  template: 'sign-in/rotate.eta',
  show: () => ({}),
};
