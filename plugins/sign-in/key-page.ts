import { issueFirstKey, rotateKey } from '#core/business/accounts/account-key.ts';
import { findActivePeriod, readAccounts } from '#core/business/accounts/account-record.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, defineForm, type Page } from '#core/web/pages/page.ts';

const path = '/account/key';
const noFields = { type: 'object' } as const;

/** Shows a key for the first time. It appears in this response and nowhere else. */
const showForm = defineForm({
  path: `${path}/show`,
  fields: noFields,
  async submit(_input, request) {
    const { database, service } = request.host;
    const issued = await issueFirstKey(database, service.prefix, accountOf(request).id);
    return issued === undefined ? {} : { key: issued.key };
  },
});

const rotateForm = defineForm({
  path: `${path}/rotate`,
  fields: noFields,
  once: true,
  async submit(_input, request) {
    const { database, service } = request.host;
    const { key } = await rotateKey(database, service.prefix, accountOf(request).id);
    return { key, isRotated: true };
  },
});

/** The key's page: the key once, then only its hint. */
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
  forms: [showForm, rotateForm],
};

/** Asks before a rotation if there is no JavaScript to open a dialog. */
export const rotatePage: Page = {
  path: `${path}/rotate`,
  role: 'account',
  layout: 'plain',
  title: 'sign_in.key.rotate',
  template: 'sign-in/rotate.eta',
  show: () => ({}),
};
