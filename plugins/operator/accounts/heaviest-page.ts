import { type AccountRecord, readAccounts } from '#core/business/accounts/account-record.ts';
import { type AccountLoad, type LoadMeasure, loadMeasures } from '#core/gateway/records/heaviest-accounts.ts';
import type { KeyUse } from '#core/gateway/records/key-use.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import type { Page } from '#core/web/pages/page.ts';
import { defineView } from '#core/web/resources/field.ts';
import { loadReadings } from '../readings.ts';
import { describeSpans, type Span, parseSpan } from '../span.ts';

const pagePath = '/operator/accounts/heaviest';

export const heaviestPage: Page = tablesPage({
  path: pagePath,
  title: 'operator.heaviest',
  back: { path: '/operator/accounts', label: 'operator.accounts' },
  none: ['operator.nothing', 'operator.heaviest_none'],
  async read(request) {
    const { host, t, format, query } = request;
    const span = parseSpan(request);
    const measure = loadMeasures.find((name) => name === query['by']) ?? 'requests';
    const { loads, since, keyUse } = await loadReadings[span](host).get();
    const isPolicy = measure === 'policy';
    const refusedIds = isPolicy ? loads.policy.map(({ accountId }) => accountId) : [];
    const refusedAccounts = await readAccounts(host.database, 'id', refusedIds);
    return {
      lead: t('operator.heaviest_since', { time: format.dayTime(new Date(since)).text }),
      segments: [
        {
          label: t('operator.heaviest_measure'),
          links: loadMeasures.map((choice) => ({
            path: buildPath(span, choice),
            label: t(`operator.heaviest_by.${choice}`),
            isCurrent: choice === measure,
          })),
        },
        { label: t('operator.span'), links: describeSpans(span, request, (choice) => buildPath(choice, measure)) },
      ],
      sections: [
        { entries: loads[measure], view: isPolicy ? createPolicyView(refusedAccounts) : createLoadView(keyUse) },
      ],
      below: t(isPolicy ? 'operator.heaviest_policy' : 'operator.heaviest_signals'),
    };
  },
});

function buildPath(span: Span, by: LoadMeasure): string {
  return `${pagePath}?${new URLSearchParams({ span, by }).toString()}`;
}

const accountField = { type: 'person', fit: 'id', at: 'title', of: 'accountId' } as const;

const createLoadView = (keyUse: ReadonlyMap<string, KeyUse>) =>
  defineView<AccountLoad>()({
    account: accountField,
    requests: { type: 'count', at: 'end', of: 'requests' },
    share: { type: 'count', at: 'hide', cell: ({ share }, { format }) => format.percent(share) },
    failed_share: {
      type: 'count',
      at: 'note-end',
      isNamed: true,
      cell: ({ failed, requests }, { format }) =>
        `${format.number(failed)} (${format.percent(requests === 0 ? 0 : failed / requests)})`,
    },
    tokens_in: { type: 'count', at: 'note', isNamed: true, of: 'inputTokens' },
    tokens_out: { type: 'count', at: 'hide', of: 'outputTokens' },
    addresses: { type: 'count', at: 'hide', value: ({ accountId }) => keyUse.get(accountId)?.addresses },
    clients: { type: 'count', at: 'hide', value: ({ accountId }) => keyUse.get(accountId)?.clients },
    at_once_column: { type: 'count', at: 'hide', value: ({ accountId }) => keyUse.get(accountId)?.atOnce },
  });

/** Each row has a link that blocks the account, because a vendor may ban the key that all accounts share. */
const createPolicyView = (accounts: readonly AccountRecord[]) =>
  defineView<AccountLoad>()({
    account: accountField,
    for_policy: { type: 'count', at: 'end', of: 'policyRefusals' },
    requests: { type: 'count', at: 'note', isNamed: true, of: 'requests' },
    share_of_requests: {
      type: 'count',
      at: 'hide',
      cell: ({ policyRefusals, requests }, { format }) => format.percent(policyRefusals / Math.max(1, requests)),
    },
    action: {
      type: 'link',
      at: 'note-end',
      cell({ accountId }, { t }) {
        const { blockedAt, deletedAt } = accounts.find(({ id }) => id === accountId) ?? {};
        if (blockedAt !== undefined || deletedAt !== undefined) return t('operator.blocked_or_deleted');
        return {
          text: t('operator.act.account.block'),
          path: `/operator/accounts/${accountId}/block`,
          isButton: true,
        };
      },
    },
  });
