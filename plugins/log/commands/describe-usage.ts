import { formatTable, type TextCell } from '#core/extension/commands/table-text.ts';
import { type Formatter, formatterFor } from '#core/web/texts/formatter.ts';
import type { RouteUsage } from '#core/gateway/records/route-usage.ts';
import { sharesOfCache, startOfHour, type UsageBy, type UsageCounts } from '#core/gateway/records/usage.ts';
import type { FiguredUsage, UsageFigures } from '#core/extension/commands/usage-figures.ts';
import { duration, timeOf } from './describe-requests.ts';

/** By what usage is counted: as it is kept, or by the plan in which it was used. */
export type UsageGrouping = UsageBy | 'plan';

/** Groupings without times to the first token. */
export const untimed: readonly UsageGrouping[] = ['account', 'plan', 'client'];

/** One line: what it counts, and the counts. */
export interface UsageLine extends UsageCounts {
  /** Id of the account, name of the model or route, or start of the hour; null for requests without one. */
  readonly key: string | number | null;
  /** Name and e-mail address of the account. */
  readonly account?: string | undefined;
  /** Ms; undefined where it is not read, or there are no answers. */
  readonly firstContent: { readonly median: number | undefined; readonly slow: number | undefined };
  /** All attempts on the route, whether it served the request or another one did. */
  readonly attempts?: RouteUsage | undefined;
  /** Additional columns of another plugin. */
  readonly figures?: FiguredUsage | undefined;
}

/** The lines of `daypass usage`, the most used first, and what they cover. */
export interface UsageTable {
  readonly by: UsageGrouping;
  readonly lines: readonly UsageLine[];
  readonly since: number;
  /** From when on usage is complete, epoch ms; undefined before the first request. */
  readonly reach: number | undefined;
  readonly figures: Pick<UsageFigures, 'titles' | 'legend' | 'json'> | undefined;
}

/** A column of the table. */
interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Groupings that show the column; all when omitted. */
  readonly only?: readonly UsageGrouping[];
  readonly except?: readonly UsageGrouping[];
  cell(line: UsageLine, reader: Reader): TextCell;
}

interface Reader {
  readonly format: Formatter;
  readonly timeZone: string;
}

const counted = (title: string, read: (line: UsageLine) => number): Column => ({
  title,
  isNumber: true,
  cell: (line, { format }) => format.number(read(line)),
});

const columns: readonly Column[] = [
  { title: 'name', only: ['account'], cell: ({ account = '' }) => account },
  counted('requests', ({ requests }) => requests),
  { title: 'errors', isNumber: true, cell: errorsCell },
  counted('failed', ({ failed }) => failed),
  { ...counted('for policy', ({ policyRefusals }) => policyRefusals), only: ['account', 'route'] },
  counted('failovers', ({ failovers }) => failovers),
  counted('cached', ({ cached }) => cached),
  counted('tokens in', ({ inputTokens }) => inputTokens),
  { title: 'from cache', isNumber: true, cell: (line, { format }) => percentOf(sharesOfCache(line)?.read, format) },
  { title: 'to cache', isNumber: true, cell: (line, { format }) => percentOf(sharesOfCache(line)?.written, format) },
  counted('tokens out', ({ outputTokens }) => outputTokens),
  {
    title: 'first token',
    isNumber: true,
    except: untimed,
    cell: ({ firstContent }, { format }) => duration(firstContent.median, format),
  },
  {
    title: '95 % below',
    isNumber: true,
    except: untimed,
    cell: ({ firstContent }, { format }) => duration(firstContent.slow, format),
  },
  {
    title: 'tries',
    isNumber: true,
    only: ['route'],
    cell: ({ attempts }, { format }) => (attempts === undefined ? '' : format.number(attempts.attempts)),
  },
  { title: 'failed tries', isNumber: true, only: ['route'], cell: failedTriesCell },
  { title: 'last fault', only: ['route'], cell: lastFaultCell },
];

const figureColumn = (title: string, index: number): Column => ({
  title,
  isNumber: true,
  cell: ({ figures }) => figures?.cells[index] ?? '',
});

/** Usage as a table, with what it covers below. */
export function describeUsage({ by, lines, since, reach, figures }: UsageTable, timeZone: string): string[] {
  const reader = { format: formatterFor('en', timeZone), timeZone };
  const first = timeOf(Math.max(startOfHour(since), reach ?? 0), timeZone);
  const covered = `since ${first} (${timeZone}), by whole hours in UTC`;
  if (lines.length === 0) return [`No requests ${covered}.`];
  const { titles = [], legend = '' } = figures ?? {};
  const all = [...columns, ...titles.map(figureColumn)];
  const shown = all.filter(({ only, except }) => (only?.includes(by) ?? true) && except?.includes(by) !== true);
  const title = by === 'hour' ? `hour (${timeZone})` : by;
  return [
    ...formatTable(
      [title, ...shown.map((column) => column.title)],
      lines.map((line) => [keyOf(line, by, timeZone), ...shown.map(({ cell }) => cell(line, reader))]),
      { numbers: shown.flatMap(({ isNumber }, index) => (isNumber === true ? [index + 1] : [])) },
    ),
    '',
    reach !== undefined && reach > since ? `${covered}; there is no usage before` : covered,
    ...(by === 'account' || by === 'route'
      ? ['for policy: refused, withheld or cut by a vendor because of its policy']
      : []),
    ...(legend === '' ? [] : [legend]),
    ...(by === 'client' ? ['client: the program, as it names itself; calls of models by accounts'] : []),
    'cached: answered from the cache of the gateway; from and to cache: parts of tokens in that vendors read from and wrote to theirs',
    'errors: refused or failed; failed: failed, or interrupted by the end of the gateway',
  ];
}

function keyOf({ key }: UsageLine, by: UsageGrouping, timeZone: string): string {
  if (key === null) return `(no ${by})`;
  if (by === 'plan') return key === 'given' ? 'given' : key === '1' ? '1 day' : `${key} days`;
  return by === 'hour' ? timeOf(key as number, timeZone).slice(0, 16) : String(key);
}

function percentOf(share: number | undefined, format: Formatter): string {
  return share === undefined ? '' : format.percent(share);
}

function errorsCell({ errors, requests, failed }: UsageLine, { format }: Reader): TextCell {
  const text = requests === 0 ? '0' : `${format.number(errors)} (${format.percent(errors / requests)})`;
  return failed > 0 ? { text, style: 'yellow' } : text;
}

function failedTriesCell({ attempts }: UsageLine, { format }: Reader): TextCell {
  if (attempts === undefined) return '';
  const text = format.number(attempts.failed);
  return attempts.failed > 0 ? { text, style: 'red' } : text;
}

function lastFaultCell({ attempts }: UsageLine, { timeZone }: Reader): TextCell {
  const last = attempts?.lastFault;
  if (last === undefined) return '';
  const error = last.error?.replace(`${last.fault}: `, ''); // a recorded error begins with its fault
  return `${timeOf(last.at, timeZone)} ${last.fault}${error === undefined ? '' : `: ${error}`}`;
}
