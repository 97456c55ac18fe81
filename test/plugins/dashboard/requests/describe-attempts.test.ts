import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { describeAttempts } from '../../../../plugins/dashboard/requests/describe-attempts.ts';
import { isTimeout } from '../../../../plugins/dashboard/requests/describe-fault.ts';
import {
  createConnectionFault,
  describeFault,
  createSilentConnectionFault,
} from '../../../../plugins/upstream/attempt/fault.ts';
import { failover, readerOf, recordOf, routesAs } from './fixture.ts';

type Attempts = NonNullable<RequestRecord['attempts']>;

function attemptsOf(settings: Partial<RequestRecord> = failover, routes = routesAs()) {
  return describeAttempts(recordOf(settings), readerOf(), routes);
}

function namesAs(sight: 'numbers' | 'hidden'): string[] {
  return attemptsOf(failover, routesAs(sight)).map(({ name }) => name);
}

/** What is said of a first attempt that failed this way; the next one served unless stated otherwise. */
function textOf(fault: Partial<Attempts[number]>, record: Partial<RequestRecord> = failover): string | undefined {
  const [first = {}, ...others] = record.attempts ?? [];
  return attemptsOf({ ...record, attempts: [{ ...first, ...fault }, ...others] })[0]?.text;
}

/** A request that failed with its only attempt. */
const lost: Partial<RequestRecord> = { outcome: 'failed', status: 502, attempts: failover.attempts.slice(0, 1) };

describe('attempts', () => {
  it('say what failed, when, and that the next route was tried', () => {
    expect(attemptsOf()[0]).toMatchObject({
      name: '1 · openai/gpt-6-sol',
      kind: 'bad',
      span: '0 – 412\u00a0ms',
      text: '503 overloaded, before the first token. Next route tried.',
    });
  });

  it('say what served, with the first token and the tokens', () => {
    expect(attemptsOf()[1]).toMatchObject({
      name: '2 · other/gpt-6-sol',
      kind: 'ok',
      text: '200, first token at 1.09\u00a0s. 1,284 in, 402 out.',
    });
  });

  it('stand on one axis as long as the request, pale until the first token', () => {
    expect(attemptsOf().map(({ bar }) => bar)).toEqual([
      { wait: undefined, run: { x: 0, width: 96 }, isFailed: true },
      { wait: { x: 96, width: 158 }, run: { x: 255, width: 745 }, isFailed: false },
    ]);
  });

  it('have an axis as long as the last one when the gateway stopped before the end', () => {
    expect(attemptsOf({ ...failover, duration_ms: null })).toEqual(attemptsOf());
  });

  it.each([
    [{ status: 429, fault: 'throttled' }, '429 rate limit, before the first token. Next route tried.'],
    [{ status: 401, fault: 'key' }, '401 key rejected, before the first token. Next route tried.'],
    [{ status: 404, fault: 'no_model' }, '404 model not available, before the first token. Next route tried.'],
    [{ status: 418, fault: 'route' }, '418 error, before the first token. Next route tried.'],
    [{ status: 200, fault: 'route' }, 'Response broke off, before the first token. Next route tried.'],
    [{ status: null, fault: 'route' }, 'Connection failed, before the first token. Next route tried.'],
  ] as const)('describe %o as "%s"', (fault, text) => {
    expect(textOf(fault)).toBe(text);
  });

  it('that failed last say that no route is left', () => {
    expect(textOf({}, lost)).toBe('503 overloaded, before the first token. No route left.');
  });

  it('whose request was rejected say that other routes would do the same', () => {
    expect(textOf({ status: 400, fault: 'client' }, { ...lost, outcome: 'refused', status: 400 })).toBe(
      '400 request rejected. Other routes would reject it too.',
    );
  });

  it('are not described as another route if they repeat the same one', () => {
    const [first, second] = failover.attempts;
    expect(textOf({}, { ...failover, attempts: [first, { ...second, route: first.route }] })).toContain('Tried again.');
  });

  it('that broke off after the first token say that the next one continued', () => {
    expect(textOf({ status: 200 }, { ...failover, first_content_ms: 300 })).toBe(
      'Response broke off, after the first token. Next route continued the response.',
    );
  });

  it('that lost to a faster route are not failures', () => {
    const [first, second] = failover.attempts;
    const slow = { ...first, outcome: 'aborted', fault: 'gone', status: null, duration_ms: 1200 } as const;
    expect(attemptsOf({ ...failover, attempts: [slow, second] })[0]).toMatchObject({
      kind: 'info',
      bar: { run: { width: 0 } },
      text: 'Stopped, another route was faster.',
    });
  });

  it('that were under way when the client left say so', () => {
    const attempts: Attempts = [
      { route: 'openai/gpt-6-sol', outcome: 'aborted', fault: 'gone', started_ms: 0, duration_ms: 900 },
    ];
    expect(attemptsOf({ outcome: 'aborted', attempts })[0]?.text).toBe('Stopped by client.');
  });

  it('have numbers instead of names, or neither, as the operator chose', () => {
    expect([namesAs('numbers'), namesAs('hidden')]).toEqual([
      ['1 · Route 1', '2 · Route 2'],
      ['Attempt 1', 'Attempt 2'],
    ]);
  });

  it('do not repeat what a vendor said, except to operators', () => {
    expect(JSON.stringify(attemptsOf())).not.toContain('org-acme');
    expect(attemptsOf(failover, routesAs('names', true))[0]?.text).toContain('org-acme');
  });

  it('that are damaged in the record are still shown', () => {
    expect(attemptsOf({ attempts: [{}] })).toHaveLength(1);
  });
});

describe('timeouts', () => {
  it('are distinguished from other faults by the words that the upstream stage records', () => {
    const late = createConnectionFault(
      Object.assign(new Error('Connect Timeout Error'), { code: 'UND_ERR_CONNECT_TIMEOUT' }),
      false,
    );
    const closed = createConnectionFault(Object.assign(new Error('reset'), { code: 'ECONNRESET' }), false);
    expect(
      [late, createSilentConnectionFault('The upstream sent nothing for 60 seconds.'), closed].map((fault) =>
        isTimeout(describeFault(fault)),
      ),
    ).toEqual([true, true, false]);
  });

  it('are named by their kind', () => {
    expect(textOf({ status: null, error: 'route: The upstream did not respond in time.' })).toBe(
      'No response in time, before the first token. Next route tried.',
    );
  });
});
