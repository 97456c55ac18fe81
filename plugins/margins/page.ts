import { calculateCacheShares, type UsageCounts } from '#core/gateway/records/usage.ts';
import { readAccountNames } from '#core/web/pages/account-name.ts';
import type { PageRequest, PageReader, Page } from '#core/web/pages/page.ts';
import { describeTable, type TableCell, type TableSection } from '#core/web/pages/table.ts';
import { type MarginSpan, marginReadings, marginSpans } from './margin-readings.ts';
import { groupMargins, type Margin, type MarginGroup, type Margins, sumMargins } from './margins.ts';
import { describeOtherPrices, formatPlanName } from './other-prices.ts';
import { readPrices } from './prices.ts';
import { formatExactMoney } from './usage-costs.ts';

const marginsPath = '/operator/orders/margins';

const groupings = ['plan', 'model', 'route', 'account', 'day'] as const;
type Grouping = (typeof groupings)[number];

const maxRows = 100;
const maxLosses = 10;

export const marginsPage: Page = {
  path: marginsPath,
  role: 'operator',
  title: 'margins.title',
  within: '/operator/orders',
  template: 'margins/margins.eta',
  async show(request) {
    const { host, t, query } = request;
    const span = marginSpans.find((candidate) => candidate === query['span']) ?? '30d';
    const by = groupings.find((grouping) => grouping === query['by']) ?? 'plan';
    if (!readPrices(host).isDeclared) return { isDeclared: false };
    const margins = await marginReadings(host)[span].get();
    const groups = by === 'day' ? groupByDay(margins) : groupMargins(margins.lines, by);
    const accounts = by === 'account' ? groups : groupMargins(margins.lines, 'account');
    const losses = accounts.filter(({ key, earned, cost }) => key !== null && cost > earned).toSorted(compareLosses);
    const [shownGroups, shownLosses] = [groups.slice(0, maxRows), losses.slice(0, maxLosses)];
    const accountGroups = by === 'account' ? [...shownGroups, ...shownLosses] : shownLosses;
    const names = await readAccountNames(
      host.database,
      accountGroups.map(({ key }) => key),
      t,
    );
    const { unpriced } = margins;
    return {
      isDeclared: true,
      since: describeSpan(margins, request),
      spans: marginSpans.map((option) =>
        describeLink({ span: option, by }, t(`margins.span.${option}`), option === span),
      ),
      groupings: groupings.map((grouping) =>
        describeLink({ span, by: grouping }, t(`margins.by.${grouping}`), grouping === by),
      ),
      tiles: describeTiles(margins, request),
      unpriced: unpriced.length === 0 ? '' : t('margins.unpriced', { routes: listNames(unpriced) }),
      taxes: describeTaxes(request),
      table: describeMarginTable(by, shownGroups, names, request),
      cut: groups.length > shownGroups.length ? t('margins.cut', { count: shownGroups.length }) : '',
      losses: { ...describeMarginTable('account', shownLosses, names, request), title: t('margins.losses') },
      ...(span === 'month' && { otherPrices: describeOtherPrices(margins, by, request) }),
    };
  },
};

const maxNamedRoutes = 10;

function listNames(routes: readonly string[]): string {
  return [...routes.slice(0, maxNamedRoutes), ...(routes.length > maxNamedRoutes ? ['…'] : [])].join(', ');
}

function describeTaxes({ host, t, language }: Pick<PageRequest, 'host' | 't' | 'language'>): string {
  const { taxes } = readPrices(host);
  if (taxes.length === 0) return '';
  const numbers = new Intl.NumberFormat(language === 'id' ? 'id-ID' : 'en-GB', { maximumFractionDigits: 2 });
  const list = taxes.map(({ percent, of }) =>
    t('margins.tax', { percent: numbers.format(percent), names: listNames(of) }),
  );
  return t('margins.taxes', { list: list.join('; ') });
}

function describeLink(query: { readonly span: MarginSpan; readonly by: Grouping }, label: string, isCurrent: boolean) {
  return { path: `${marginsPath}?${new URLSearchParams(query).toString()}`, label, isCurrent };
}

function describeSpan({ span }: Margins, { t, format }: PageReader): string {
  const [from, until] = [new Date(span.from), new Date(span.until)];
  return t('margins.span_text', { from: format.dayTime(from).text, until: format.dayTime(until).text });
}

function groupByDay({ days }: Margins): MarginGroup[] {
  return days.map(({ day, ...margin }) => ({ key: day, ...margin })).toReversed();
}

function compareLosses(first: Margin, second: Margin): number {
  const [firstMargin, secondMargin] = [first.earned - first.cost, second.earned - second.cost];
  return Number(firstMargin > secondMargin) - Number(firstMargin < secondMargin);
}

function describeTiles({ lines }: Margins, reader: PageReader) {
  const { t, format } = reader;
  const { counts, cost, earned } = sumMargins(lines);
  const money = (value: bigint) => formatExactMoney(value, reader);
  return [
    { label: t('margins.earned'), value: money(earned), note: t('margins.earned_note') },
    { label: t('margins.cost'), value: money(cost), note: t('margins.cost_note') },
    {
      label: t('margins.margin'),
      value: money(earned - cost),
      note: describeShare({ cost, earned }, reader),
    },
    {
      label: t('operator.requests'),
      value: format.number(counts.requests),
      note: describeTokens(counts, reader),
    },
  ];
}

/** Vendor caches are shown because reads and writes are priced differently. */
function describeTokens(counts: UsageCounts, { t, format }: PageReader): string {
  const cache = calculateCacheShares(counts);
  const tokens = { input: format.compact(counts.inputTokens), output: format.compact(counts.outputTokens) };
  if (cache === undefined) return t('margins.tokens', tokens);
  return t('margins.tokens_cached', {
    ...tokens,
    read: format.percent(cache.read),
    written: format.percent(cache.written),
  });
}

function describeShare({ cost, earned }: Pick<Margin, 'cost' | 'earned'>, { t, format }: PageReader): string {
  if (earned === 0n || cost > earned) return '';
  return t('margins.share', { share: format.percent(Number(((earned - cost) * 10_000n) / earned) / 10_000) });
}

function describeMarginTable(
  by: Grouping,
  groups: readonly MarginGroup[],
  names: ReadonlyMap<string, string>,
  reader: PageReader,
): TableSection {
  const money = (value: bigint) => formatExactMoney(value, reader);
  const fit = by === 'account' || by === 'route' || by === 'model' ? ({ fit: 'id' } as const) : {};
  const hidden = { at: 'hide', isNumber: true } as const;
  return describeTable(reader, 'margins', 'margins.title', groups, [
    { label: `margins.by.${by}`, at: 'title', ...fit, cell: ({ key }) => describeKey(by, key, names, reader) },
    { label: 'operator.requests', ...hidden, cell: ({ counts }) => counts.requests },
    { label: 'operator.tokens_in', ...hidden, cell: ({ counts }) => counts.inputTokens },
    { label: 'operator.from_cache', ...hidden, cell: ({ counts }) => formatCacheReads(counts, reader) },
    { label: 'operator.tokens_out', ...hidden, cell: ({ counts }) => counts.outputTokens },
    {
      label: 'margins.earned',
      at: 'note',
      isNumber: true,
      isNamed: true,
      cell: ({ earned }) => money(earned),
    },
    { label: 'margins.cost', at: 'note-end', isNumber: true, isNamed: true, cell: ({ cost }) => money(cost) },
    { label: 'margins.margin', at: 'end', isNumber: true, cell: ({ earned, cost }) => money(earned - cost) },
  ]);
}

function formatCacheReads(counts: UsageCounts, { format }: PageReader): string {
  const cache = calculateCacheShares(counts);
  return cache === undefined ? '—' : format.percent(cache.read);
}

function describeKey(
  by: Grouping,
  key: string | null,
  names: ReadonlyMap<string, string>,
  { t, format }: PageReader,
): TableCell {
  if (key === null) return { text: t(`margins.none.${by}`) };
  if (by === 'plan') return { text: formatPlanName(key, t) };
  if (by === 'day') return { text: format.shortDay(new Date(`${key}T12:00:00Z`)).text, iso: key };
  if (by === 'account') return { text: names.get(key) ?? key, path: `/operator/accounts/${key}` };
  return { text: key };
}
