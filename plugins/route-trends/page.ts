import { service } from '#core/config/sections/core-sections.ts';
import { quantile } from '#core/gateway/records/latency-histogram.ts';
import { startOfHours } from '#core/gateway/records/usage.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { describeTable } from '#core/web/pages/table.ts';
import { readDailyCounts } from './daily-counts.ts';
import { describeStep, recentTrends, trendPath } from './notes.ts';
import { type TimedCounts, readTimedCounts } from './read-trends.ts';
import { calculateSpeed } from './trends.ts';

const shownHours = 48;

export const trendPage: Page = {
  path: trendPath,
  role: 'operator',
  title: 'route-trends.title',
  template: 'route-trends/route.eta',
  async show(request) {
    const { host, query } = request;
    const route = query['route'] ?? '';
    if (!host.catalog.models.some(({ routes }) => routes.some(({ id }) => id === route)))
      throw new PageError(404, 'route-trends.unknown', {
        action: { path: '/operator/routes', label: 'route-trends.routes' },
      });
    const timeZone = host.section(service).time_zone;
    const [byHour, byDay, trends] = await Promise.all([
      readTimedCounts(host.database, route, { since: startOfHours(host.now(), shownHours), by: 'hour', timeZone }),
      readDailyCounts(host, route),
      recentTrends(host)
        .get()
        .catch(() => []),
    ]);
    return {
      route,
      steps: (trends.find((trend) => trend.route === route)?.steps ?? []).map((step) => describeStep(step, request)),
      days: describeCounts(byDay, 'day', request),
      hours: describeCounts(byHour, 'hour', request),
    };
  },
};

function describeCounts(rows: readonly TimedCounts[], by: 'hour' | 'day', request: PageRequest) {
  const { format } = request;
  return describeTable(request, `${by}s`, `route-trends.by_${by}`, rows, [
    {
      label: `route-trends.${by}`,
      at: 'title',
      cell: ({ at }) => (by === 'hour' ? format.dayTime(new Date(at)).text : format.shortDay(new Date(at)).text),
    },
    { label: 'route-trends.attempts', isNumber: true, isNamed: true, at: 'note', cell: ({ attempts }) => attempts },
    {
      label: 'route-trends.throttled',
      isNumber: true,
      at: 'end',
      cell: ({ throttled, attempts }) => (attempts === 0 ? '' : format.percent(throttled / attempts)),
    },
    {
      label: 'route-trends.first_token',
      isNumber: true,
      at: 'note-end',
      cell: ({ firstContent }) => {
        const median = quantile(firstContent, 0.5);
        return median === undefined ? '' : format.duration(median).text;
      },
    },
    {
      label: 'route-trends.speed',
      isNumber: true,
      at: 'hide',
      cell: (counts) => {
        const speed = calculateSpeed(counts);
        return speed === undefined ? '' : format.number(Math.round(speed));
      },
    },
  ]);
}
