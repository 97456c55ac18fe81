import { getAccountDirectory } from '#core/business/accounts/directory.ts';
import { determinePass } from '#core/business/accounts/pass-state.ts';
import { readRefundedEnd } from '#core/business/accounts/plan-end.ts';
import { getConfiguredProvider } from '#core/business/payments/connections.ts';
import { findOpenOrder } from '#core/business/payments/order-view.ts';
import type { Registry } from '#core/extension/registry.ts';
import { collectNotices } from '#core/web/pages/notices.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, type PageRequest } from '#core/web/pages/page.ts';
import { hasSetup } from '#core/web/pages/setup-command.ts';
import { connectPath } from '../paths.ts';
import { findHigherLimitsLink } from '../section.ts';
import { type Range, readAccountUsage } from './account-usage.ts';
import { describeGrant, describeOrder, describePass, describeReminder } from './describe-pass.ts';
import { describeRate } from './describe-tiles.ts';
import { describeUsage } from './describe-usage.ts';

export async function describeHome(
  request: PageRequest,
  gateway: Pick<Registry, 'allowanceReader' | 'pages' | 'noticeSources'>,
) {
  const { host, t, format, query } = request;
  const { id } = accountOf(request);
  const directory = getAccountDirectory(host);
  const account = await directory.findById(id);
  if (account === undefined) throw new PageError(404, 'error.404.text');
  const range: Range = query['range'] === '30d' ? '30d' : '24h';
  const now = directory.databaseTime(account);
  const buyPath = getConfiguredProvider(host) === undefined ? '' : '/buy';
  const [usage, allowance, notices, order] = await Promise.all([
    readAccountUsage(host, id, range),
    gateway.allowanceReader?.(host, account, now),
    collectNotices(gateway.noticeSources, request, now, 'customers'),
    buyPath === '' ? undefined : findOpenOrder(host.database, id),
  ]);
  const pass = determinePass(account, now);
  const refunded = pass.kind === 'ended' ? await readRefundedEnd(host.database, id) : undefined;
  // Notices about the account itself, such as its place on the waiting list while it has no pass.
  const accountNotices = notices.filter(({ isOwn }) => isOwn);
  const hasPendingPass = accountNotices.length > 0 || order !== undefined;
  return {
    asOf: format.clock(new Date(now)).text,
    notices: notices.filter(({ isOwn = false }) => !isOwn),
    own: accountNotices.toSorted((a, b) => Number(a.action === undefined) - Number(b.action === undefined)),
    reminder: describeReminder(pass, now, buyPath, request, refunded),
    order: order && describeOrder(order, request),
    grant: describeGrant(account, now, request),
    pass: { ...describePass(pass, now, request), ...(hasPendingPass && pass.kind === 'none' && { text: '' }) },
    stub: {
      key: describeKey(account.key, t),
      baseUrl: `${host.service.baseUrl}/v1`,
      baseUrlText: `${host.service.baseUrl}/v1`.replace(/^https?:\/\//, ''),
      buy: buyPath,
      buyLabel: t(pass.kind === 'active' ? 'home.renew' : 'home.choose_plan'),
      contact: buyPath === '' ? (host.service.contact ?? '') : '',
    },
    rate: allowance === undefined ? undefined : describeRate(allowance, findHigherLimitsLink(host), request),
    ...describeUsage(usage, range, now, request),
    emptyText: t(hasSetup(gateway) ? 'home.empty.text_command' : 'home.empty.text'),
    // There is only one primary button; without a pass, it is the one for buying a pass.
    emptyAction: pass.kind === 'active' ? { path: connectPath, label: t('home.empty.action') } : undefined,
    ranges: (['24h', '30d'] as const).map((name) => ({
      path: name === '24h' ? '/dashboard' : `/dashboard?range=${name}`,
      label: t(`home.range.${name}`),
      isCurrent: name === range,
    })),
  };
}

function describeKey(key: { readonly hint: string; readonly isShown: boolean } | undefined, t: PageRequest['t']) {
  if (key === undefined) return { hint: t('home.key.none'), label: '' };
  return { hint: key.hint, label: t(key.isShown ? 'home.key.rotate' : 'home.key.show') };
}
