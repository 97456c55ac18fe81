import type { PageRequest } from '#core/web/pages/page.ts';
import { timeRanges } from '../time-range.ts';
import {
  buildRequestsPath,
  chips,
  defaultRange,
  hasFilters,
  requestsPath,
  type RequestsQuery,
  statusChoices,
} from './query.ts';

export function describeControls(query: RequestsQuery, { t }: Pick<PageRequest, 't'>, models: readonly string[]) {
  return {
    chips: chips.map((show) => ({
      path: buildRequestsPath(query, { show }),
      name: t(`requests.chip.${show}`),
      isCurrent: query.show === show,
    })),
    isFiltered: hasFilters({ ...query, show: 'all' }) || query.time !== defaultRange,
    selects: describeSelects(query, t, models),
    isOfAll: query.path !== requestsPath,
    action: query.path,
    account: query.account,
    kept: [
      // Parameters that have no field in the form.
      ...(query.show === 'all' ? [] : [{ name: 'show', value: query.show }]),
      ...(query.isLive ? [] : [{ name: 'live', value: '0' }]),
    ],
    ignored: query.ignored.map(({ name, value }) => t('requests.ignored.line', { name, value })),
    pause: buildRequestsPath(query, { isLive: false }),
    resume: buildRequestsPath(query, { isLive: true }),
    // The page exports only the reader's own requests; `daypass requests` exports those of all accounts.
    exports: (query.path === requestsPath ? ['csv', 'jsonl'] : []).map((kind) => ({
      path: buildRequestsPath({ ...query, isLive: true }, {}, `${requestsPath}.${kind}`),
      name: t(`requests.export.${kind}`),
      hint: t(`requests.export.${kind}.hint`),
    })),
    news: { one: t('requests.news', { count: 1 }), other: t('requests.news.many') },
  };
}

function describeSelects(query: RequestsQuery, t: PageRequest['t'], models: readonly string[]) {
  const choices = addCurrent(statusChoices, query.status);
  return [
    {
      name: 'model',
      label: t('requests.filter.model'),
      options: describeOptions(addCurrent(models, query.model), query.model, {
        any: t('requests.filter.any_model'),
        nameOf: (model) => model,
      }),
    },
    {
      name: 'status',
      label: t('requests.filter.status'),
      options: describeOptions(choices, query.status, {
        any: t('requests.filter.any_status'),
        nameOf: (status) => (isStatusChoice(status) ? t(`requests.filter.status.${status}`) : status),
      }),
    },
    {
      name: 'time',
      label: t('requests.filter.time'),
      options: describeOptions(timeRanges, query.time, { nameOf: (range) => t(`requests.filter.time.${range}`) }),
    },
  ];
}

function isStatusChoice(status: string): boolean {
  return statusChoices.some((choice) => choice === status);
}

function addCurrent(values: readonly string[], current: string): readonly string[] {
  // A value that is only in the URL stays in the form.
  return current === '' || values.includes(current) ? values : [...values, current];
}

function describeOptions(
  values: readonly string[],
  selected: string,
  { any, nameOf }: { readonly any?: string; readonly nameOf: (value: string) => string },
) {
  const options = values.map((value) => ({ value, text: nameOf(value), isSelected: value === selected }));
  return any === undefined ? options : [{ value: '', text: any, isSelected: selected === '' }, ...options];
}
