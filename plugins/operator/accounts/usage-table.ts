import type { PageRequest } from '#core/web/pages/page.ts';
import { quantile } from '#core/gateway/records/latency-histogram.ts';
import type { TimedUsage, UsageKeys } from '#core/gateway/records/usage.ts';
import type { TableSection } from '../table-section.ts';

type ModelUsage = TimedUsage & Pick<UsageKeys, 'model'>;

/** Requests of an account by model, most used first. */
export function usageTable(
  usage: readonly ModelUsage[],
  { t, format }: Pick<PageRequest, 't' | 'format'>,
): TableSection {
  return {
    id: 'usage',
    title: t('operator.usage'),
    columns: [
      { label: t('operator.model'), at: 'title' },
      { label: t('operator.requests'), at: 'end', isNumber: true },
      { label: t('operator.errors'), at: 'note', isNumber: true },
      { label: t('operator.tokens_in'), at: 'hide', isNumber: true },
      { label: t('operator.tokens_out'), at: 'hide', isNumber: true },
      { label: t('operator.first_token'), at: 'note-end', isNumber: true },
    ],
    rows: usage
      .toSorted((one, other) => other.requests - one.requests)
      .map(({ model, requests, errors, inputTokens, outputTokens, firstContent }) => {
        const median = quantile(firstContent, 0.5);
        return [
          { text: model ?? t('operator.no_model_named') },
          { text: format.number(requests) },
          { text: requests === 0 ? '' : format.percent(errors / requests) },
          { text: format.number(inputTokens) },
          { text: format.number(outputTokens) },
          { text: median === undefined ? '' : format.duration(median).text },
        ];
      }),
  };
}
