import { AccountError } from '#core/business/accounts/account-error.ts';
import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { blockAccount, unblockAccount } from '#core/business/accounts/blocking.ts';
import { actionKind } from '#core/business/operator-actions/actions.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { actionPage, refusal } from '../action-page.ts';
import { requireAccount } from './account-page.ts';

const pathOf = (id: string) => `/operator/accounts/${id}`;
const nameOf = ({ email, name, id }: AccountRecord) => email ?? (name === '' ? id : name);
const subject = async (request: PageRequest) => (await requireAccount(request)).id;

/** `/operator/accounts/{id}/block` */
export const blockPage: Page = actionPage({
  path: '/operator/accounts/{id}/block',
  title: 'operator.block',
  action: 'account.block',
  needsNote: true,
  async ask(request) {
    const { t } = request;
    const account = await requireAccount(request);
    return {
      question: t('operator.block_question', { account: nameOf(account) }),
      text: t('operator.block_text'),
      facts: [],
      label: t('operator.block'),
      isDanger: true,
      back: pathOf(account.id),
      note: { label: t('operator.reason'), hint: t('operator.block_hint') },
    };
  },
  subject,
  async perform({ host }, { note }, accountId) {
    await blockAccount(host.database, accountId, note);
    return pathOf(accountId);
  },
});

/** `/operator/accounts/{id}/unblock` */
export const unblockPage: Page = actionPage({
  path: '/operator/accounts/{id}/unblock',
  title: 'operator.unblock',
  action: 'account.unblock',
  needsNote: false,
  async ask(request) {
    const { t } = request;
    const account = await requireAccount(request);
    return {
      question: t('operator.unblock_question', { account: nameOf(account) }),
      text: t('operator.unblock_text'),
      facts: [],
      label: t('operator.unblock'),
      isDanger: false,
      back: pathOf(account.id),
      note: undefined,
    };
  },
  subject,
  async perform({ host }, _input, accountId) {
    await unblockAccount(host.database, accountId);
    return pathOf(accountId);
  },
});

/** `/operator/accounts/{id}/days` */
export const daysPage: Page = actionPage({
  path: '/operator/accounts/{id}/days',
  title: 'operator.add_days',
  action: 'account.add_days',
  needsNote: true,
  async ask(request) {
    const { t } = request;
    const account = await requireAccount(request);
    return {
      question: t('operator.days_question', { account: nameOf(account) }),
      text: t('operator.days_text'),
      facts: [],
      label: t('operator.add_days'),
      isDanger: false,
      back: pathOf(account.id),
      days: { label: t('operator.days_column'), hint: t('operator.days_hint') },
      note: { label: t('operator.reason'), hint: t('operator.days_note_hint') },
    };
  },
  subject,
  async perform({ host }, { days, note }, accountId) {
    if (days === 0) throw refusal({ days: 'operator.days_zero' }, 'no days');
    try {
      await actionKind('account.add_days').perform(host, accountId, { days, note });
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      throw refusal({ days: 'operator.days_too_many' }, error.message);
    }
    return pathOf(accountId);
  },
});
