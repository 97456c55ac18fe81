import { type AccountRecord, readAccounts } from '#core/business/accounts/account-record.ts';
import { type AccountLoad, type Measure, measures } from '#core/gateway/records/heaviest-accounts.ts';
import type { KeyUse } from '#core/gateway/records/key-use.ts';
import { nameOfAccount } from '#core/web/pages/account-name.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { loadReadings } from '../readings.ts';
import { type Span, spanOf, spans } from '../span.ts';
import { type ColumnOf, describeTable, type TableCell } from '#core/web/pages/table.ts';

const path = '/operator/accounts/heaviest';

/** `/operator/accounts/heaviest`: the accounts with the most requests, tokens, failures or refusals for policy, and from where their keys are used. */
export const heaviestPage: Page = {
  path,
  role: 'operator',
  title: 'operator.heaviest',
  template: 'operator/heaviest.eta',
  styles: ['operator.css', 'tables.css'],
  async show(request) {
    const { host, t, format } = request;
    const span = spanOf(request);
    const measure = measures.find((one) => one === request.query['by']) ?? 'requests';
    const { loads, first, use } = await loadReadings(host)[span].get();
    const accounts = await readAccounts(
      host.database,
      'id',
      loads[measure].map(({ accountId }) => accountId),
    );
    const known = new Map(accounts.map((account) => [account.id, account]));
    return {
      since: t('operator.heaviest_since', { time: format.dayTime(new Date(first)).text }),
      spans: (Object.keys(spans) as Span[]).map((one) => ({
        path: pathOf(one, measure),
        label: t(`operator.span.${one}`),
        isCurrent: one === span,
      })),
      measures: measures.map((one) => ({
        path: pathOf(span, one),
        label: t(`operator.heaviest_by.${one}`),
        isCurrent: one === measure,
      })),
      signals: measure === 'policy' ? t('operator.heaviest_policy') : t('operator.heaviest_signals'),
      table: describeTable<AccountLoad>(request, 'heaviest', 'operator.heaviest', loads[measure], [
        { label: 'operator.account', fit: 'id', at: 'title', cell: (load) => accountCell(load, known, t) },
        ...(measure === 'policy' ? policyColumns(known, request) : loadColumns(use, request)),
      ]),
    };
  },
};

function pathOf(span: Span, by: Measure): string {
  return `${path}?${new URLSearchParams({ span, by }).toString()}`;
}

function loadColumns(use: ReadonlyMap<string, KeyUse>, { format }: PageRequest): ColumnOf<AccountLoad>[] {
  const failedOf = ({ failed, requests }: AccountLoad) =>
    `${format.number(failed)} (${format.percent(requests === 0 ? 0 : failed / requests)})`;
  const hidden = { at: 'hide', isNumber: true } as const;
  return [
    { label: 'operator.requests', at: 'end', isNumber: true, cell: ({ requests }) => requests },
    { label: 'operator.share', ...hidden, cell: ({ share }) => format.percent(share) },
    { label: 'operator.failed_share', at: 'note-end', isNumber: true, isNamed: true, cell: failedOf },
    { label: 'operator.tokens_in', at: 'note', isNumber: true, isNamed: true, cell: ({ inputTokens }) => inputTokens },
    { label: 'operator.tokens_out', ...hidden, cell: ({ outputTokens }) => outputTokens },
    { label: 'operator.addresses', ...hidden, cell: ({ accountId }) => use.get(accountId)?.addresses },
    { label: 'operator.clients', ...hidden, cell: ({ accountId }) => use.get(accountId)?.clients },
    { label: 'operator.at_once_column', ...hidden, cell: ({ accountId }) => use.get(accountId)?.atOnce },
  ];
}

function accountCell(
  { accountId }: AccountLoad,
  accounts: ReadonlyMap<string, AccountRecord>,
  t: PageRequest['t'],
): TableCell {
  const account = accounts.get(accountId);
  return {
    text: account === undefined ? accountId : nameOfAccount(account, t),
    path: `/operator/accounts/${accountId}`,
  };
}

/** Accounts with many policy rejections, with the way to block them: a vendor may ban the key that all share. */
function policyColumns(
  accounts: ReadonlyMap<string, AccountRecord>,
  { t, format }: PageRequest,
): ColumnOf<AccountLoad>[] {
  const block = ({ accountId }: AccountLoad) => {
    const { blockedAt, deletedAt } = accounts.get(accountId) ?? {};
    if (blockedAt !== undefined || deletedAt !== undefined) return t('operator.blocked_or_deleted');
    return { text: t('operator.act.account.block'), path: `/operator/accounts/${accountId}/block`, isButton: true };
  };
  const shareOf = ({ policyRefusals, requests }: AccountLoad) => format.percent(policyRefusals / Math.max(1, requests));
  return [
    { label: 'operator.for_policy', at: 'end', isNumber: true, cell: ({ policyRefusals }) => policyRefusals },
    { label: 'operator.requests', at: 'note', isNumber: true, isNamed: true, cell: ({ requests }) => requests },
    { label: 'operator.share_of_requests', at: 'hide', isNumber: true, cell: shareOf },
    { label: 'operator.action', at: 'note-end', cell: block },
  ];
}
