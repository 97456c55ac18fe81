import { createTestHost } from '#core/extension/testing/test-host.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { defineTexts, type Language } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import type { UsageRow } from '../../../../plugins/dashboard/home/account-usage.ts';
import en from '../../../../plugins/dashboard/home/texts/en.json' with { type: 'json' };
import id from '../../../../plugins/dashboard/home/texts/id.json' with { type: 'json' };

const translator = new Translator([defineTexts({ en, id })]);

/** A reader in Jakarta. */
export function reader(language: Language = 'en') {
  const t = translator.in(language);
  return { t, format: getFormatter(language, 'Asia/Jakarta'), language, host: createTestHost({ now }) };
}

/** Half past nine in Jakarta. */
export const now = Date.UTC(2026, 10, 22, 2, 30);
export const hour = 3_600_000;
/** The start of the running hour. */
export const thisHour = Date.UTC(2026, 10, 22, 2);

/** Requests of one model in one hour. */
export function row(hoursAgo: number, counts: Partial<UsageRow> = {}): UsageRow {
  return {
    hour: thisHour - hoursAgo * hour,
    model: 'dp/one',
    requests: 0,
    answered: 0,
    refused: 0,
    failed: 0,
    aborted: 0,
    errors: 0,
    failovers: 0,
    cached: 0,
    inputTokens: 0,
    outputTokens: 0,
    policyRefusals: 0,
    ...counts,
  } as UsageRow;
}
