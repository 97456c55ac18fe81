import { formatEntries } from '#core/extension/commands/field-text.ts';
import { formatTime } from '#core/extension/commands/table-text.ts';
import type { FiguredUsage, UsageFigures } from '#core/extension/commands/usage-figures.ts';
import type { RouteUsage } from '#core/gateway/records/route-usage.ts';
import { calculateCacheShares, startOfHour, type UsageBy, type UsageCounts } from '#core/gateway/records/usage.ts';
import { defineView, type ShownField, type TextReader } from '#core/web/resources/field.ts';

export type UsageGrouping = UsageBy | 'plan';

export const timedGroupings: readonly UsageGrouping[] = ['model', 'route', 'hour'];

export interface UsageLine extends UsageCounts {
  /** Account id, name of the model or route, or start of the hour; null for requests that have none. */
  readonly key: string | number | null;
  readonly account?: string | undefined; // name and email address
  /** Ms; undefined if not read or if there were no replies. */
  readonly firstContent: { readonly median: number | undefined; readonly p95: number | undefined };
  /** All attempts on the route, including those of requests that another route served. */
  readonly attempts?: RouteUsage | undefined;
  readonly figures?: FiguredUsage | undefined; // from another plugin
}

export interface UsageTable {
  readonly by: UsageGrouping;
  readonly lines: readonly UsageLine[];
  readonly since: number;
  readonly completeSince: number | undefined; // epoch ms; undefined before the first request
  readonly figures: Pick<UsageFigures, 'fields' | 'legend' | 'json'> | undefined;
}

const createCacheShare = (name: 'read' | 'written') =>
  ({
    type: 'count',
    print(line: UsageLine, { format }: TextReader) {
      const shares = calculateCacheShares(line);
      return shares && format.percent(shares[name]);
    },
  }) as const;

const columns = defineView<UsageLine>()({
  name: { type: 'text', of: 'account' },
  requests: { type: 'count', of: 'requests' },
  errors: { type: 'count', print: formatErrors, kind: ({ failed }) => (failed > 0 ? 'warn' : undefined) },
  failed: { type: 'count', of: 'failed' },
  for_policy: { type: 'count', of: 'policyRefusals' },
  failovers: { type: 'count', of: 'failovers' },
  cached: { type: 'count', of: 'cached' },
  tokens_in: { type: 'count', of: 'inputTokens' },
  from_cache: createCacheShare('read'),
  to_cache: createCacheShare('written'),
  tokens_out: { type: 'count', of: 'outputTokens' },
  first_token: { type: 'duration', value: ({ firstContent }) => firstContent.median },
  slow: { type: 'duration', heading: '95 % below', value: ({ firstContent }) => firstContent.p95 },
  tries: { type: 'count', value: ({ attempts }) => attempts?.attempts },
  failed_tries: {
    type: 'count',
    value: ({ attempts }) => attempts?.failed,
    kind: ({ attempts }) => (attempts !== undefined && attempts.failed > 0 ? 'bad' : undefined),
  },
  last_fault: { type: 'text', print: formatLastFault },
});

const groupingsByColumn: Readonly<Partial<Record<string, readonly UsageGrouping[]>>> = {
  // Columns that are not listed here are always shown.
  name: ['account'],
  for_policy: ['account', 'route'],
  first_token: timedGroupings,
  slow: timedGroupings,
  tries: ['route'],
  failed_tries: ['route'],
  last_fault: ['route'],
};

function selectFields({ by, figures }: UsageTable, timeZone: string): ShownField<UsageLine>[] {
  const key = defineView<UsageLine>()({
    [by]: {
      type: 'id',
      heading: by === 'hour' ? `hour (${timeZone})` : by,
      print: (line: UsageLine) => formatKey(line, by, timeZone),
    },
  });
  const shownColumns = columns.text.filter(({ name }) => groupingsByColumn[name]?.includes(by) ?? true);
  return [...key.text, ...shownColumns, ...(figures?.fields ?? [])];
}

export function describeUsage(table: UsageTable, timeZone: string): string[] {
  const { by, lines, since, completeSince, figures } = table;
  const firstTime = formatTime(new Date(Math.max(startOfHour(since), completeSince ?? 0)), timeZone, true);
  const period = `since ${firstTime} (${timeZone}), by whole hours in UTC`;
  if (lines.length === 0) return [`No requests ${period}.`];
  const fields = selectFields(table, timeZone);
  const numericColumns = fields.flatMap(({ type }, index) => (type === 'count' || type === 'duration' ? [index] : []));
  const { legend = '' } = figures ?? {};
  return [
    ...formatEntries(lines, fields, { timeZone, now: since }, { numericColumns }),
    '',
    completeSince !== undefined && completeSince > since ? `${period}; no usage was recorded before` : period,
    ...(by === 'account' || by === 'route'
      ? ['for policy: refused, withheld or cut off by a vendor because of its policy']
      : []),
    ...(legend === '' ? [] : [legend]),
    ...(by === 'client' ? ['client: the name that the program sends; only model calls by accounts'] : []),
    "cached: served from the gateway's cache; from and to cache: shares of `tokens in` that vendors read from and wrote to their caches",
    'errors: refused or failed; failed: failed, or interrupted because the gateway stopped',
  ];
}

function formatKey({ key }: UsageLine, by: UsageGrouping, timeZone: string): string {
  if (key === null) return `(no ${by})`;
  if (by === 'plan' && key !== 'given') return key === '1' ? '1 day' : `${key} days`;
  return by === 'hour' ? formatTime(new Date(key), timeZone) : String(key);
}

function formatErrors({ errors, requests }: UsageLine, { format }: TextReader): string {
  return requests === 0 ? '0' : `${format.number(errors)} (${format.percent(errors / requests)})`;
}

function formatLastFault({ attempts }: UsageLine, { time }: TextReader): string | undefined {
  const last = attempts?.lastFault;
  if (last === undefined) return undefined;
  const error = last.error?.replace(`${last.fault}: `, ''); // a recorded error starts with its fault
  return `${time(new Date(last.at), true)} ${last.fault}${error === undefined ? '' : `: ${error}`}`;
}
