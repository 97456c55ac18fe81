import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { getActions } from '#core/business/operator-actions/actions.ts';
import { accountSubject } from '#core/business/operator-actions/subjects.ts';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

const primaryActions = new Set(['account.add_days', 'account.block', 'account.unblock', 'account.resume']);

export function listAccountLinks(
  { id, email, blockedAt, pausedAt, deletedAt }: AccountRecord,
  hasSignIn: boolean,
  { host, t }: Pick<PageRequest, 'host' | 't'>,
) {
  if (deletedAt !== undefined) return [];
  const isOperator = isOperatorAddress(host, email);
  const hiddenActions = new Set(['account.note']); // its form is on the account's page
  // A paused account can still be blocked, because its owner could resume it.
  const canBlock = blockedAt === undefined || pausedAt !== undefined;
  hiddenActions.add(canBlock ? 'account.unblock' : 'account.block');
  if (pausedAt === undefined) hiddenActions.add('account.resume');
  return [...getActions(host).values()]
    .filter(({ subject, sparesOperators }) => subject === accountSubject && !(isOperator && sparesOperators === true))
    .filter(({ name }) => !hiddenActions.has(name))
    .filter(({ input }) => hasSignIn || input.properties['sign_in'] === undefined)
    .map(({ name }) => ({
      path: `/operator/accounts/${id}/${splitActionName(name).verb}`,
      label: t(`operator.act.${name}`),
      isFirst: primaryActions.has(name),
      isDanger: name === 'account.block' || name === 'account.delete',
    }))
    .toSorted((a, b) => Number(a.isDanger) - Number(b.isDanger));
}
