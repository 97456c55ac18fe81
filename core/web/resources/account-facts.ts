import { type AccountRecord, activePeriod } from '#core/business/accounts/account-record.ts';
import { recordedLabelIn } from '#core/business/accounts/plans.ts';
import { signInName } from '#core/business/operator-actions/telling.ts';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import { nameOfPerson } from '../pages/account-name.ts';
import type { AccountDetails } from './account-details.ts';
import { defineView, type FieldReader } from './field.ts';

/** What is said of one account. */
export const accountFacts = defineView<AccountDetails>()(
  {
    account: { type: 'id', label: 'operator.id', value: ({ record }) => record.id },
    name: {
      type: 'text',
      value: ({ record: { name, email } }) => (email === undefined ? name : `${name} <${email}>`),
      cell: ({ record }, { t }) => nameOfPerson(record.name, t),
    },
    language: { type: 'text', of: 'language' },
    created: { type: 'time', value: ({ record }) => record.createdAt },
    blocked: {
      type: 'time',
      label: 'operator.blocked_since',
      value: ({ record }) => record.blockedAt,
      print: ({ record: { blockedAt }, blockedReason = '' }, time) =>
        blockedAt && `${time(blockedAt)}: ${blockedReason}`,
    },
    blocked_reason: { type: 'text', of: 'blockedReason' },
    deleted: { type: 'time', value: ({ record }) => record.deletedAt },
    key: { type: 'id', value: ({ record }) => record.key?.hint, print: ({ record }) => record.key?.hint ?? 'none' },
    limits: { type: 'text', value: ({ record: { key } }) => key?.limits && JSON.stringify(key.limits) },
    plan: { type: 'text', label: 'operator.fact.plan', print: printPlan, cell: describePlan },
    requests: { type: 'count', label: 'operator.requests_ever', value: ({ record }) => record.requestCount },
    signs_in: {
      type: 'text',
      value: ({ identities }) =>
        identities.map(({ provider, email, name }) => `${provider} (${email ?? name})`).join(', '),
      cell: ({ identities }, { t }) =>
        identities.map(({ provider, email, name }) => `${signInName(provider, t)} (${email ?? name})`).join(', '),
    },
    sessions: { type: 'count', value: ({ sessions }) => sessions.length },
    role: {
      type: 'text',
      cell: ({ record }, { t, host }) => (isOperatorAddress(host, record.email) ? t('operator.role_operator') : ''),
    },
  },
  [
    'account',
    'name',
    'language',
    'created',
    'blocked',
    'deleted',
    'key',
    'limits',
    'plan',
    'requests',
    'signs_in',
    'sessions',
  ],
);

/** The end of the last period; undefined when there never was one. */
export function endOf({ periods }: AccountRecord): Date | undefined {
  return periods.at(-1)?.endsAt;
}

function printPlan({ record }: AccountDetails, time: (at: Date | undefined) => string): string {
  const [active, end] = [activePeriod(record, record.readAt), endOf(record)];
  if (active !== undefined) return `${active.label}, active until ${time(end)}`;
  if (end === undefined) return 'none yet';
  return `${end.getTime() > record.readAt ? 'starts later, ends' : 'ended'} at ${time(end)}`;
}

/** Its days, and its label where it has one: `1 day, for trying out`. */
function describePlan({ record }: AccountDetails, { t, language, host }: FieldReader): string {
  const active = activePeriod(record, record.readAt);
  if (active === undefined) return t(endOf(record) === undefined ? 'operator.plan_none' : 'operator.plan_over');
  const { days, label, unnamedDays } = active;
  if (unnamedDays !== undefined) return t('operator.days', { count: unnamedDays });
  const name = recordedLabelIn(language, label, host);
  return days === undefined ? name : `${t('operator.days', { count: days })}, ${name}`;
}
