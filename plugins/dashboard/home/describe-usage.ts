import { startOfHours } from '#core/gateway/records/usage.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { describeRows } from '../requests/describe-row.ts';
import { createRouteNames } from '../route-names.ts';
import { type AccountUsage, countHoursToRead, countRangeHours, type Range } from './account-usage.ts';
import { describeChart, describeModels } from './describe-chart.ts';
import { describeFigures } from './describe-tiles.ts';
import { sumHours, sumModels } from './sum-usage.ts';

const minuteMs = 60_000; // relative times change every minute

type UsageView = ReturnType<typeof buildUsageView>;

const descriptions = new WeakMap<AccountUsage, { readonly key: string; readonly view: UsageView }>(); // `key`: the view's other inputs

export function describeUsage(usage: AccountUsage, range: Range, now: number, request: PageRequest): UsageView {
  const { language, format, isOperator, host } = request;
  const areRoutesShown = createRouteNames(request).areShown;
  const key = [
    language,
    format.timeZone,
    isOperator,
    areRoutesShown,
    Math.floor(now / minuteMs),
    host.service.name,
  ].join(' ');
  const cached = descriptions.get(usage);
  if (cached?.key === key) return cached.view;
  const view = buildUsageView(usage, range, now, request);
  descriptions.set(usage, { key, view });
  return view;
}

function buildUsageView({ rows, latest }: AccountUsage, range: Range, now: number, request: PageRequest) {
  const hours = sumHours(rows, countHoursToRead(range), now);
  const routes = createRouteNames(request);
  const chart = describeChart(hours.slice(-countRangeHours(range)), range, request);
  // Models are counted over the same period as the bars, so that the requests add up.
  const since = Date.parse(chart.bars[0]?.iso ?? '') || startOfHours(now, countRangeHours(range));
  return {
    figures: describeFigures(hours, now, request),
    isEmpty: latest.length === 0,
    chart,
    models: {
      ...describeModels(sumModels(rows, since), request),
      range: request.t('home.since', { time: request.format.dayTime(new Date(since)).text }),
    },
    hasRoutes: routes.areShown,
    latest: describeRows(latest, request, routes, now),
  };
}
