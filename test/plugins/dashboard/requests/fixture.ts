import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { requestTexts } from '#core/web/requests/describe-facts.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { defineTexts, type Language } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import en from '../../../../plugins/dashboard/requests/texts/en.json' with { type: 'json' };
import id from '../../../../plugins/dashboard/requests/texts/id.json' with { type: 'json' };
import { createLabelsByVisibility } from '../../../../plugins/dashboard/route-names.ts';
import type { RouteVisibility } from '../../../../plugins/dashboard/section.ts';

export { recordOf, startedAt } from '../../../core/web/requests/fixture.ts';

const translator = new Translator([requestTexts, defineTexts({ en, id })]);

/** A reader in Jakarta. */
export function readerOf(language: Language = 'en') {
  return { t: translator.in(language), format: getFormatter(language, 'Asia/Jakarta') };
}

/** Two attempts, the second of which served. */
export const failover = {
  has_failover: true,
  route: 'other/gpt-6-sol',
  first_content_ms: 1090,
  input_tokens: 1284,
  output_tokens: 402,
  attempts: [
    {
      route: 'openai/gpt-6-sol',
      outcome: 'failed',
      started_ms: 0,
      duration_ms: 412,
      status: 503,
      fault: 'route',
      error: 'route: 503 The engine of org-acme is overloaded',
    },
    { route: 'other/gpt-6-sol', outcome: 'served', started_ms: 412, duration_ms: 3868, status: 200 },
  ],
} as const satisfies Partial<RequestRecord>;

const routes = ['openai/gpt-6-sol', 'other/gpt-6-sol'].map((route) => ({ id: route }));

/** Names of the routes of dp/gpt-6-sol, as customers see them. */
export function routesAs(sight: RouteVisibility = 'names', areVendorsShown = false) {
  const catalog = { resolve: (name: string) => (name === 'dp/gpt-6-sol' ? { routes } : undefined) };
  return createLabelsByVisibility(sight, catalog as never, readerOf().t, areVendorsShown);
}
