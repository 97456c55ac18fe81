import { type AccountRecord, readAccounts } from '#core/business/accounts/account-record.ts';
import { type AccountLoad, type Measure, measures } from '#core/gateway/records/heaviest-accounts.ts';
import type { KeyUse } from '#core/gateway/records/key-use.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { viewPath } from '#core/web/pages/views.ts';
import { loadReadings } from '../readings.ts';
import { type Span, spanOf, spans } from '../span.ts';
import type { TableCell, TableSection } from '../table-section.ts';

const path = '/operator/accounts/heaviest';

/** `/operator/accounts/heaviest`: the accounts with the most requests, tokens, failures or refusals for policy, and from where their keys are used. */
export const heaviestPage: Page = {
  path,
  role: 'operator',
  title: 'operator.heaviest',
  template: viewPath('operator/heaviest.eta'),
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
      table:
        measure === 'policy' ? policyTable(loads.policy, known, request) : tableOf(loads[measure], known, use, request),
    };
  },
};

function pathOf(span: Span, by: Measure): string {
  return `${path}?${new URLSearchParams({ span, by }).toString()}`;
}

function tableOf(
  loads: readonly AccountLoad[],
  accounts: ReadonlyMap<string, AccountRecord>,
  use: ReadonlyMap<string, KeyUse>,
  { t, format }: PageRequest,
): TableSection {
  const number = (value: number | undefined) => ({ text: value === undefined ? '' : format.number(value) });
  return {
    id: 'heaviest',
    title: t('operator.heaviest'),
    columns: [
      { label: t('operator.account'), fit: 'id', at: 'title' },
      { label: t('operator.requests'), at: 'end', isNumber: true },
      { label: t('operator.share'), at: 'hide', isNumber: true },
      { label: t('operator.failed_share'), at: 'note-end', isNumber: true, isNamed: true },
      { label: t('operator.tokens_in'), at: 'note', isNumber: true, isNamed: true },
      { label: t('operator.tokens_out'), at: 'hide', isNumber: true },
      { label: t('operator.addresses'), at: 'hide', isNumber: true },
      { label: t('operator.clients'), at: 'hide', isNumber: true },
      { label: t('operator.at_once_column'), at: 'hide', isNumber: true },
    ],
    rows: loads.map(({ accountId, requests, share, failed, inputTokens, outputTokens }) => {
      const used = use.get(accountId);
      return [
        accountCell(accountId, accounts),
        number(requests),
        { text: format.percent(share) },
        { text: `${format.number(failed)} (${format.percent(requests === 0 ? 0 : failed / requests)})` },
        number(inputTokens),
        number(outputTokens),
        number(used?.addresses),
        number(used?.clients),
        number(used?.atOnce),
      ];
    }),
  };
}

function accountCell(accountId: string, accounts: ReadonlyMap<string, AccountRecord>): TableCell {
  const { email, name = '' } = accounts.get(accountId) ?? {};
  return { text: email ?? (name === '' ? accountId : name), path: `/operator/accounts/${accountId}` };
}

/** Who collects refusals for policy, with the way to block them: a vendor may ban the key that all share. */
function policyTable(
  loads: readonly AccountLoad[],
  accounts: ReadonlyMap<string, AccountRecord>,
  { t, format }: PageRequest,
): TableSection {
  return {
    id: 'heaviest',
    title: t('operator.heaviest'),
    columns: [
      { label: t('operator.account'), fit: 'id', at: 'title' },
      { label: t('operator.for_policy'), at: 'end', isNumber: true },
      { label: t('operator.requests'), at: 'note', isNumber: true, isNamed: true },
      { label: t('operator.share'), at: 'hide', isNumber: true },
      { label: t('operator.action'), at: 'note-end' },
    ],
    rows: loads.map(({ accountId, policyRefusals, requests }) => {
      const { blockedAt, deletedAt } = accounts.get(accountId) ?? {};
      const block = { text: t('operator.act.account.block'), path: `/operator/accounts/${accountId}/block` };
      const isClosed = blockedAt !== undefined || deletedAt !== undefined;
      return [
        accountCell(accountId, accounts),
        { text: format.number(policyRefusals) },
        { text: format.number(requests) },
        { text: format.percent(policyRefusals / Math.max(1, requests)) },
        isClosed ? { text: t('operator.blocked_or_deleted') } : block,
      ];
    }),
  };
}
