import type { PageRequest } from '#core/web/pages/page.ts';

/** The days of a span include today. Each span is compared with the same number of days before it. */
export const spans = { today: 1, '7d': 7, '30d': 30 } as const;
export type Span = keyof typeof spans;

export function parseSpan({ query }: Pick<PageRequest, 'query'>): Span {
  return Object.keys(spans).find((name): name is Span => name === query['span']) ?? 'today';
}

export function describeSpans(current: Span, { t }: Pick<PageRequest, 't'>, buildPath: (span: Span) => string) {
  return (Object.keys(spans) as Span[]).map((span) => ({
    path: buildPath(span),
    label: t(`operator.span.${span}`),
    isCurrent: span === current,
  }));
}

/** @param days oldest first, today last, at least twice as many as the span has */
export function splitDays<Day>(days: readonly Day[], span: Span): { readonly now: Day[]; readonly before: Day[] } {
  const count = spans[span];
  return { now: days.slice(-count), before: days.slice(-2 * count, -count) };
}
