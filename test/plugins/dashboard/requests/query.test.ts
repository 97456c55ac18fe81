import { describe, expect, it } from 'vitest';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import {
  buildRequestsPath,
  createFilter,
  hasFilters,
  parseQuery,
} from '../../../../plugins/dashboard/requests/query.ts';

const now = Date.UTC(2026, 10, 22, 14, 32, 7);
const filterFor = (query: Record<string, string>) => createFilter(parseQuery(query), 'account', now);

describe('the address of the list', () => {
  it('is read and written again without loss', () => {
    const before = createRequestId(now);
    const query = { show: 'errors', model: 'dp/gpt-6-sol', status: '502', time: '7d', before, live: '0' };
    const written = new URL(buildRequestsPath(parseQuery(query), { before }), 'http://localhost');
    expect(Object.fromEntries(written.searchParams)).toEqual(query);
  });

  it('is short for the list as it comes', () => {
    expect(buildRequestsPath(parseQuery({}))).toBe('/dashboard/requests');
  });

  it('names an account only on the list of all accounts', () => {
    const query = { account: 'ani@example.com' };
    expect(buildRequestsPath(parseQuery(query))).toBe('/dashboard/requests');
    expect(buildRequestsPath(parseQuery(query, '/operator/requests'))).toBe(
      '/operator/requests?account=ani%40example.com',
    );
  });

  it('leads to the beginning again when a filter changes', () => {
    const query = parseQuery({ before: createRequestId(now), live: '0' });
    expect(buildRequestsPath(query, { show: 'cached' })).toBe('/dashboard/requests?show=cached&live=0');
  });

  it.each([
    ['show', 'everything'],
    ['status', '9999'],
    ['status', '-1'],
    ['status', '4x'],
    ['time', '400d'],
    ['time', '__proto__'],
    ['before', 'garbage'],
    ['before', `req_${'f'.repeat(32)}`],
    ['id', "' OR 1=1 --"],
    ['live', 'maybe'],
    ['model', 'x'.repeat(201)],
  ])('ignores the invalid %s "%s", and the page reports it', (name, value) => {
    const query = parseQuery({ [name]: value });
    expect([buildRequestsPath(query), query.ignored.map((entry) => entry.name)]).toEqual([
      '/dashboard/requests',
      [name],
    ]);
  });

  it('shortens what it does not understand', () => {
    expect(parseQuery({ status: 'x'.repeat(5000) }).ignored[0]?.value.length).toBeLessThan(70);
  });

  it('ignores the space around an id that was pasted', () => {
    const id = createRequestId(now);
    expect(parseQuery({ id: ` ${id}\n` })).toMatchObject({ id, ignored: [] });
  });
});

describe('the filter of the list', () => {
  it('is always for one account, and for a day unless the address says otherwise', () => {
    expect(filterFor({})).toEqual({ accountId: 'account', since: Date.UTC(2026, 10, 21, 15) });
    expect(filterFor({ time: 'all' })).toEqual({ accountId: 'account', since: undefined });
  });

  it.each([
    ['2xx', { outcome: 'answered' }],
    ['4xx', { status: [400, 499] }],
    ['5xx', { status: [500, 599] }],
    ['429', { status: [429, 429] }],
    ['stopped', { outcome: 'aborted' }],
  ])('of the status %s is %o', (status, filter) => {
    expect(filterFor({ status })).toMatchObject(filter);
  });

  it.each([
    ['errors', { errors: true }],
    ['failover', { hasFailover: true }],
    ['cached', { isCached: true }],
  ])('of the chip %s is %o', (show, filter) => {
    expect(filterFor({ show, model: 'dp/gpt-6-sol' })).toMatchObject({ ...filter, model: 'dp/gpt-6-sol' });
  });

  it('does not narrow the list if it only has a time', () => {
    expect([hasFilters(parseQuery({ time: '7d' })), hasFilters(parseQuery({ model: 'dp/gpt-6-sol' }))]).toEqual([
      false,
      true,
    ]);
  });
});
