import type { PageRequest } from '#core/web/pages/page.ts';

/** Days that the tiles of the overview cover, today included; each span is compared with as many days before. */
export const spans = { today: 1, '7d': 7, '30d': 30 } as const;
export type Span = keyof typeof spans;

/** The span in the page's address; today if it has none that exists. */
export function spanOf({ query }: Pick<PageRequest, 'query'>): Span {
  return Object.keys(spans).find((name): name is Span => name === query['span']) ?? 'today';
}

/** The links between the spans of a page, ready to be printed. */
export function describeSpans(current: Span, { t }: Pick<PageRequest, 't'>, pathOf: (span: Span) => string) {
  return (Object.keys(spans) as Span[]).map((span) => ({
    path: pathOf(span),
    label: t(`operator.span.${span}`),
    isCurrent: span === current,
  }));
}

/** The days of a span and as many before them. @param days the oldest first, today last, at least twice the span */
export function splitDays<Day>(days: readonly Day[], span: Span): { readonly now: Day[]; readonly before: Day[] } {
  const count = spans[span];
  return { now: days.slice(-count), before: days.slice(-2 * count, -count) };
}
