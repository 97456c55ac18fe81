import type { PageRequest } from '#core/web/pages/page.ts';

/** Days in each span, including today. Each span is compared with the same number of days before it. */
export const spans = { today: 1, '7d': 7, '30d': 30 } as const;
export type Span = keyof typeof spans;

/** Parses the span in the page's query. Returns today if it is missing or unknown. */
export function parseSpan({ query }: Pick<PageRequest, 'query'>): Span {
  return Object.keys(spans).find((name): name is Span => name === query['span']) ?? 'today';
}

/** Describes the links that switch between a page's spans. */
export function describeSpans(current: Span, { t }: Pick<PageRequest, 't'>, buildPath: (span: Span) => string) {
  return (Object.keys(spans) as Span[]).map((span) => ({
    path: buildPath(span),
    label: t(`operator.span.${span}`),
    isCurrent: span === current,
  }));
}

/**
 * Splits days into a span and the previous one.
 * @param days oldest first, today last, at least twice as many as the span has
 */
export function splitDays<Day>(days: readonly Day[], span: Span): { readonly now: Day[]; readonly before: Day[] } {
  const count = spans[span];
  return { now: days.slice(-count), before: days.slice(-2 * count, -count) };
}
