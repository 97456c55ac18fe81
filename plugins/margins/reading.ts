import { findAccountByHandle } from '#core/business/accounts/account-list.ts';
import { text } from '#core/business/operator-actions/action-kind.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { InvalidQuery } from '#core/business/operator-actions/query.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { cacheSharesToJson } from '#core/gateway/records/usage.ts';
import { object } from '#core/platform/schema.ts';
import { describeQuery, readQuery } from '#core/web/resources/resource.ts';
import { marginReadings, marginSpans } from './margin-readings.ts';
import { groupMargins, describeMargin } from './margins.ts';
import { readPrices } from './prices.ts';

const marginQuery = object({
  span: { enum: marginSpans, description: 'month is the last full month. Default: 30d.' },
  by: { enum: ['plan', 'model', 'route', 'account', 'day'], description: 'Default: plan.' },
  account: text('Only this account: id, email address, name, key hint or key. Not available by day.'),
});
const maxGroups = 1_000;

export const marginsReading: OperatorReading = {
  path: '/margins',
  summary: 'read usage, its cost and its revenue; requires declared costs',
  query: describeQuery(marginQuery),
  read: readMarginGroups,
};

/** Uses the same readings as the operator's pages, so a call costs no more than a page view. */
async function readMarginGroups(host: Host, _handle: string, query: URLSearchParams): Promise<object> {
  const { span = '30d', by: group = 'plan', account } = await readQuery(marginQuery, query);
  if (account !== undefined && group === 'day')
    throw new InvalidQuery('One account has no margins by day; leave out "account", or use another "by".');
  const { isDeclared, taxes } = readPrices(host);
  if (!isDeclared) return { isDeclared, margins: [] };
  const margins = await marginReadings(host)[span].get();
  const { currency, days, unpriced } = margins;
  const id = account === undefined ? undefined : (await findAccountByHandle(host, account)).id;
  const lines = id === undefined ? margins.lines : margins.lines.filter((line) => line.account === id);
  const groups =
    group === 'day' ? days.map(({ day, ...margin }) => ({ key: day, ...margin })) : groupMargins(lines, group);
  return {
    isDeclared,
    currency,
    taxes,
    since: new Date(margins.span.from),
    until: new Date(margins.span.until),
    unpriced,
    cut: groups.length > maxGroups,
    margins: groups.slice(0, maxGroups).map(({ key, counts, ...money }) => ({
      [group]: key,
      requests: counts.requests,
      inputTokens: counts.inputTokens,
      outputTokens: counts.outputTokens,
      cacheReadTokens: counts.cacheReadTokens,
      cacheWriteTokens: counts.cacheWriteTokens,
      ...cacheSharesToJson(counts),
      images: counts.images,
      ...describeMargin(money, currency),
    })),
  };
}
