import type { PageRequest } from '#core/web/pages/page.ts';
import { explainError, tryCauses } from './explain-error.ts';

/** The texts of the page's script. Placeholders in braces are filled there. */
export function scriptTexts({ t, format }: Pick<PageRequest, 't' | 'format'>) {
  return {
    errors: Object.fromEntries(tryCauses.map((cause) => [cause, explainError(cause, {}, t)])),
    tokens: t('try.tokens'),
    first: t('try.first'),
    total: t('try.total'),
    stopped: t('try.stopped'),
    broken: t('try.broken'),
    truncated: t('try.truncated'),
    noText: t('try.no_text'),
    thinking: t('try.thinking'),
    done: t('try.done'),
    units: { ms: format.duration(1).unit, s: format.duration(2_000).unit },
  };
}
