import type { AccountRecord } from '#core/business/accounts/account-record.ts';
import { splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { getActions } from '#core/business/operator-actions/actions.ts';
import { accountSubject } from '#core/business/operator-actions/subjects.ts';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { PageRequest } from '#core/web/pages/page.ts';

/** The most frequent support actions; the others are listed with the details. A note is written on the page itself. */
const first = new Set(['account.add_days', 'account.block', 'account.unblock']);
const onPage = 'account.note';

/** Links to an operator's actions on an account. */
export function accountLinks(
  { id, email, blockedAt, pausedAt, deletedAt }: AccountRecord,
  hasSignIn: boolean,
  { host, t }: Pick<PageRequest, 'host' | 't'>,
) {
  if (deletedAt !== undefined) return [];
  const isOperator = isOperatorAddress(host, email);
  const pointless = new Set([onPage]);
  if (blockedAt === undefined) pointless.add('account.unblock');
  // Not for a paused account: its owner could resume it.
  else if (pausedAt === undefined) pointless.add('account.block');
  return [...getActions(host).values()]
    .filter(({ subject, sparesOperators }) => subject === accountSubject && !(isOperator && sparesOperators === true))
    .filter(({ name }) => !pointless.has(name))
    .filter(({ input }) => hasSignIn || input.properties['sign_in'] === undefined)
    .map(({ name }) => ({
      path: `/operator/accounts/${id}/${splitActionName(name).verb}`,
      label: t(`operator.act.${name}`),
      isFirst: first.has(name),
      isDanger: name === 'account.block' || name === 'account.delete',
    }))
    .toSorted((one, other) => Number(one.isDanger) - Number(other.isDanger));
}
