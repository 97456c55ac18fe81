import { describe, expect, it } from 'vitest';
import { Translator } from '#core/web/texts/translator.ts';
import { findCause, explainError, tryCauses } from '../../../../plugins/dashboard/try/explain-error.ts';
import en from '../../../../plugins/dashboard/try/texts/en.json' with { type: 'json' };
import id from '../../../../plugins/dashboard/try/texts/id.json' with { type: 'json' };

const t = new Translator([{ en, id }]).in('en');

describe('a failed request', () => {
  it.each([
    [0, 'unreachable'],
    [400, 'refused'],
    [401, 'signed_out'],
    [402, 'no_plan'],
    [403, 'blocked'],
    [404, 'no_model'],
    [413, 'too_long'],
    [422, 'refused'],
    [424, 'failed'],
    [429, 'rate_limit'],
    [500, 'failed'],
    [503, 'failed'],
  ] as const)('is explained, for the status %i, as %s', (status, cause) => {
    expect(findCause(status)).toBe(cause);
  });

  it('has a title and a text for each cause', () => {
    const keys = tryCauses.flatMap((cause) => [`try.error.${cause}`, `try.error_text.${cause}`]);
    expect(keys.filter((key) => !(key in en))).toEqual([]);
  });

  it('says for how long, and what the API said', () => {
    expect(explainError('rate_limit', { seconds: 23 }, t).text).toBe('Send again in 23 s.');
    expect(explainError('refused', { message: 'Bad <b>' }, t).text).toBe('Bad <b>');
  });

  it('keeps its placeholders for the script of the page', () => {
    expect(explainError('rate_limit', {}, t).text).toContain('{seconds}');
  });
});
