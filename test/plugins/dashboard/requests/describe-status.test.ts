import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { errorKinds } from '#core/platform/errors/table.ts';
import { describeStatus } from '../../../../plugins/dashboard/requests/describe-status.ts';
import { explainMissingAttempts } from '../../../../plugins/dashboard/requests/detail-page.ts';
import { readerOf, recordOf } from './fixture.ts';

const { t } = readerOf();
const statusOf = (settings: Partial<RequestRecord>) => describeStatus(recordOf(settings), t);

describe('the status of a request', () => {
  it.each<[string, string, string, Partial<RequestRecord>]>([
    ['an answer', 'ok', '200', {}],
    ['an answer from the cache', 'ok', 'Cached', { cache: 'hit' }],
    ['an answer that was looked for in the cache', 'ok', '200', { cache: 'miss' }],
    ['a rate limit', 'warn', '429 rate limit', { outcome: 'refused', status: 429, error_code: 'rate_limited' }],
    [
      'a failure of all routes',
      'bad',
      '502 all routes failed',
      { outcome: 'failed', status: 502, error_code: 'upstream_failed' },
    ],
    ['an answer that broke off', 'bad', 'Broke off', { outcome: 'failed', status: 200, error_code: 'upstream_failed' }],
    ['an error without a code', 'bad', '500 error', { outcome: 'failed', status: 500 }],
    ['a code of another version', 'bad', '500 error', { outcome: 'failed', status: 500, error_code: 'x' as never }],
    ['a client that left', 'info', 'Stopped by client', { outcome: 'aborted', status: 200 }],
    ['a gateway that stopped', 'bad', 'Interrupted', { outcome: 'interrupted', status: null }],
  ])('of %s is %s "%s"', (_, tone, text, settings) => {
    expect(statusOf(settings)).toMatchObject({ tone, text });
  });

  it('is loud only where something went wrong', () => {
    expect([statusOf({}), statusOf({ cache: 'hit' }), statusOf({ outcome: 'aborted' })]).toMatchObject([
      { isTrouble: false },
      { isTrouble: false },
      { isTrouble: true },
    ]);
  });

  it('tells a model that is out of service from an unknown one', () => {
    const refused = { outcome: 'refused', status: 404, error_code: 'model_not_found' } as const;
    const off = 'Model "gpt-6-sol" is out of service: all of its routes are off. GET /v1/models lists the others.';
    expect(statusOf({ ...refused, error_message: off }).text).toBe('404 model out of service');
    expect(statusOf({ ...refused, error_message: 'Model "gpt-6" not found.' }).text).toBe('404 unknown model');
  });

  it('tells routes that failed from none in service', () => {
    const failed = { outcome: 'failed', status: 503, error_code: 'unavailable' } as const;
    expect(statusOf({ ...failed, route: 'demo/fail-503' }).text).toBe('503 all routes failed');
    expect(statusOf({ ...failed, route: null }).text).toBe('503 no route available');
  });

  it.each(['en', 'id'] as const)('has words in "%s" for every error that there is', (language) => {
    const reader = readerOf(language);
    const texts = Object.keys(errorKinds).map(
      (code) => describeStatus(recordOf({ outcome: 'refused', status: 400, error_code: code as never }), reader.t).text,
    );
    expect(texts.filter((text) => text.includes('requests.'))).toEqual([]);
  });
});

describe('a request without attempts', () => {
  it('found no route in service, or was rejected before', () => {
    const failed = { outcome: 'failed', status: 503, error_code: 'unavailable' } as const;
    expect(explainMissingAttempts(recordOf(failed))).toBe('unrouted');
    expect(explainMissingAttempts(recordOf({ ...failed, outcome: 'refused', model: null }))).toBe('refused');
    expect(explainMissingAttempts(recordOf({ outcome: 'refused', error_code: 'rate_limited' as never }))).toBe(
      'refused',
    );
  });
});
