import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { describeRows } from '../../../../plugins/dashboard/requests/describe-row.ts';
import { failover, readerOf, recordOf, routesAs, startedAt } from './fixture.ts';

function rowsOf(records: readonly Partial<RequestRecord>[], routes = routesAs()) {
  return describeRows(records.map(recordOf), readerOf(), routes, startedAt);
}

function rowOf(record: Partial<RequestRecord>, routes = routesAs()) {
  return rowsOf([record], routes)[0]?.rows[0];
}

describe('a row', () => {
  it('has time, model, the route that served, and how many were tried', () => {
    expect(rowOf(failover)).toMatchObject({
      time: { text: '21:32:07' },
      name: 'dp/gpt-6-sol',
      route: 'other/gpt-6-sol',
      attempts: '2 attempts',
      input: '1,284',
      output: '402',
      firstToken: '1.09\u00a0s',
      total: '4.28\u00a0s',
    });
  });

  it('has a dash for what is not known', () => {
    const { route, input, output, firstToken, total, bar } = rowOf({ duration_ms: null }) ?? {};
    expect([route, input, output, firstToken, total, bar]).toEqual(['—', '—', '—', '—', '—', undefined]);
  });

  it('of a request that failed has the route that was tried last', () => {
    expect(rowOf({ ...failover, route: null, outcome: 'failed', status: 502 })?.route).toBe('other/gpt-6-sol');
  });

  it('of a cached response has its first byte, since tokens were not counted', () => {
    expect(rowOf({ cache: 'hit', first_byte_ms: 9, duration_ms: 12 })).toMatchObject({
      route: 'cache',
      firstToken: '9\u00a0ms',
      total: '12\u00a0ms',
    });
  });

  it('of an answer that came whole has no first token', () => {
    expect(rowOf({ is_stream: false, first_content_ms: 900, duration_ms: 900 })?.firstToken).toBe('—');
  });

  it('of an unknown model has the name that was typed', () => {
    const message = 'Model "gpt-6-so" not found. Did you mean "dp/gpt-6-sol"?';
    const unknown = { model: null, error_code: 'model_not_found', error_message: message } as Partial<RequestRecord>;
    expect(rowOf(unknown)).toMatchObject({ name: 'gpt-6-so', isModelCall: true });
  });

  it('of a model that is out of service has the name that was typed', () => {
    const message = 'Model "fast" is out of service: all of its routes are off. GET /v1/models lists the others.';
    const off = { model: null, error_code: 'model_not_found', error_message: message } as Partial<RequestRecord>;
    expect(rowOf(off)).toMatchObject({ name: 'fast', isModelCall: true });
  });

  it('of a list of models has its path', () => {
    expect(rowOf({ model: null, method: 'GET', path: '/v1/models' })).toMatchObject({
      name: '/v1/models',
      isModelCall: false,
    });
  });

  it('shows no failover for a single attempt', () => {
    expect(rowOf({ attempts: failover.attempts.slice(1) })?.attempts).toBe('');
  });
});

describe('rows', () => {
  it('have bars on the scale of the slowest', () => {
    const [day] = rowsOf([{ duration_ms: 1000 }, { duration_ms: 4000 }]);
    expect(day?.rows.map(({ bar }) => bar?.run.width)).toEqual([250, 1000]);
  });

  it('are grouped by the day of the reader, today without a name', () => {
    const midnight = Date.UTC(2026, 10, 21, 17);
    const days = rowsOf([{}, { started_at: midnight }, { started_at: midnight - 1 }]);
    expect(days.map(({ name, rows }) => [name, rows.length])).toEqual([
      ['', 2],
      ['Sat 21 Nov', 1],
    ]);
  });
});
