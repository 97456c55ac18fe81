import { AccountError } from '#core/business/accounts/account-error.ts';
import { describeFields } from '#core/web/actions/action-fields.ts';
import { createActionForm, errorTextKey } from '#core/web/actions/action-page.ts';
import { plainPage } from '#core/web/actions/plain-page.ts';
import { formatAccountLabel, readAccountNames } from '#core/web/pages/account-name.ts';
import { describeDowntime } from '#core/web/pages/downtime.ts';
import { localTimePattern, localRangeToInstants } from '#core/web/pages/local-time.ts';
import { notFound, PageError } from '#core/web/pages/page-error.ts';
import { FieldErrors, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { describeTable, type TableSection } from '#core/web/pages/table.ts';
import { creditAction, declineAction, grantAction } from './actions.ts';
import { type ConfirmedOutage, findOutage, listOutages, previewCredit } from './credit.ts';
import { listWitnesses } from './evidence.ts';
import { type AffectedAccount, findAffectedAccounts, type OutageResult, parseOutage } from './grant.ts';

const pagePath = '/operator/accounts/outage';
const maxAccounts = 100; // the others are only counted

const grantForm = createActionForm(grantAction, {
  next(result, { since = '', until = '', model }) {
    const { granted, skipped, failed } = result as unknown as OutageResult;
    const counts = { granted: String(granted), skipped: String(skipped), failed: String(failed.length) };
    const parameters = { since, until, ...(model !== undefined && { model }) };
    return `${pagePath}?${new URLSearchParams({ ...parameters, ...counts })}`;
  },
});

const creditForm = createActionForm(creditAction, {
  path: `${pagePath}/credit`,
  next: ({ accounts = 0 }) => `${pagePath}?credited=${String(accounts)}`,
});

async function requireOutage({ host, params }: PageRequest): Promise<ConfirmedOutage> {
  try {
    return await findOutage(host.database, params['outage'] ?? '');
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    return notFound('operator.outage_unknown', { path: pagePath, label: 'operator.outage' });
  }
}

export const declinePage: Page = plainPage(declineAction, {
  path: `${pagePath}/{outage}`,
  async find(request) {
    const { t } = request;
    const outage = await requireOutage(request);
    if (outage.creditedAt !== undefined)
      throw new PageError(409, 'operator.outage_credited', { action: { path: pagePath, label: 'operator.outage' } });
    const { title, text: wouldGive } = await describeOutage(outage, request);
    const facts = [
      { name: t('operator.outage'), value: title },
      { name: t('operator.credit_would_give'), value: wouldGive },
    ];
    return { id: '', name: title, path: pagePath, facts };
  },
});

const maxOutages = 20;

async function describeOutage(outage: ConfirmedOutage, request: PageRequest) {
  const { host, t } = request;
  const { accounts, seconds } = await previewCredit(host, outage);
  const minutes = t('operator.credit_minutes', { count: Math.round(seconds / 60) });
  return {
    id: outage.id,
    title: describeDowntime(outage, request),
    text: t('operator.credit_preview', { count: accounts, minutes }),
  };
}

const maxWitnesses = 10;

/** Lists the accounts whose requests failed, so that the operator can see whether they caused the outage. */
async function describeWaiting(outage: ConfirmedOutage, request: PageRequest) {
  const { host, t } = request;
  const witnesses = await listWitnesses(host.database, outage, maxWitnesses);
  const names = await readAccountNames(
    host.database,
    witnesses.map(({ accountId }) => accountId),
    t,
  );
  return {
    ...(await describeOutage(outage, request)),
    reason: t(outage.isConfirmed ? 'operator.credit_first' : 'operator.credit_unconfirmed'),
    felt: witnesses.map(({ accountId, failures, hadEarlierFailures }) => ({
      path: `/operator/accounts/${accountId}`,
      name: names.get(accountId) ?? accountId,
      text: t(hadEarlierFailures ? 'operator.credit_felt_before' : 'operator.credit_felt', { count: failures }),
    })),
  };
}

export const outagePage: Page = {
  path: pagePath,
  role: 'operator',
  title: 'operator.outage',
  within: '/operator/accounts',
  template: 'outages/page.eta',
  styles: ['operator.css', 'tables.css', 'outages/outages.css'],
  async show(request) {
    const { t, query, form: submitted, host } = request;
    const readField = (name: string) => String(submitted.values[name] ?? query[name] ?? '');
    const [since, until, model] = [readField('since'), readField('until'), readField('model')];
    const { error, accounts } = await previewGrant(request, since, until, model);
    const waiting = await listOutages(host.database, maxOutages, 'waiting');
    return {
      waiting: await Promise.all(waiting.map((outage) => describeWaiting(outage, request))),
      credited:
        query['credited'] === undefined ? '' : t('operator.credit_done', { count: Number(query['credited']) || 0 }),
      since,
      until,
      model,
      models: host.catalog.models.map(({ publicName }) => publicName),
      error,
      isAsked: accounts !== undefined,
      count: t('operator.outage.hit', { count: accounts?.length ?? 0 }),
      table:
        accounts === undefined || accounts.length === 0
          ? undefined
          : describeAccounts(accounts.slice(0, maxAccounts), request),
      rows: describeFields(request, grantAction, { since: false, until: false, model: false, days: { value: 1 } }),
      more: accounts !== undefined && accounts.length > maxAccounts ? accounts.length - maxAccounts : 0,
      ...(query['granted'] !== undefined && {
        done: t('operator.outage.done', {
          granted: query['granted'],
          skipped: query['skipped'] ?? '0',
          failed: query['failed'] ?? '0',
        }),
      }),
    };
  },
  forms: [grantForm, creditForm],
};

async function previewGrant(
  request: PageRequest,
  since: string,
  until: string,
  model: string,
): Promise<{ error: string; accounts?: readonly AffectedAccount[] }> {
  const { host, t } = request;
  if (!localTimePattern.test(since) || !localTimePattern.test(until)) return { error: '' };
  try {
    const times = await localRangeToInstants(request, since, until);
    const outage = await parseOutage(host, { ...times, model: model === '' ? undefined : model });
    return { error: '', accounts: await findAffectedAccounts(host.database, outage) };
  } catch (error) {
    if (error instanceof AccountError) return { error: t(errorTextKey(t, grantAction.name, error.kind)) };
    if (error instanceof FieldErrors) return { error: t('form.invalid') };
    throw error;
  }
}

function describeAccounts(accounts: readonly AffectedAccount[], request: PageRequest): TableSection {
  const describeAccountLink = (account: AffectedAccount) => ({
    text: formatAccountLabel(account, request.t),
    path: `/operator/accounts/${account.id}`,
  });
  return describeTable(request, 'affected', 'operator.accounts', accounts, [
    { label: 'operator.account', fit: 'id', at: 'title', cell: describeAccountLink },
    { label: 'operator.name', fit: 'id', at: 'note', cell: ({ name }) => name },
  ]);
}
