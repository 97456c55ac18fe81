import { describe, expect, it } from 'vitest';
import { formats } from '../../../plugins/format/formats/formats.ts';
import { Connections, targetOf } from '../../../plugins/upstream/connections/connections.ts';
import { vendors } from '../../../plugins/upstream/vendors.ts';
import { routeTo, upstreamAt } from './fixture.ts';

describe('the table of vendors', () => {
  it('the table of vendors has every name once', () => {
    const names = vendors.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(vendors)('the table of vendors has kebab-case names: $name', ({ name }) => {
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  it.each(vendors)('the table of vendors has formats of the gateway, each once: $name', ({ formats: spoken }) => {
    expect(spoken.length).toBeGreaterThan(0);
    expect(new Set(spoken).size).toBe(spoken.length);
    expect(formats.map(({ name }) => name)).toEqual(expect.arrayContaining([...spoken]));
  });

  const withUrl = vendors.flatMap(({ baseUrl, ...others }) => (baseUrl === undefined ? [] : [{ baseUrl, ...others }]));

  it.each(withUrl)('the table of vendors has a base URL to which a path can be appended: $name', ({ baseUrl }) => {
    expect(new URL(baseUrl).href.replace(/\/$/, '')).toBe(baseUrl);
    expect(baseUrl).not.toMatch(/[/?#]$/);
  });

  it.each(withUrl)('the table of vendors sends keys over TLS only: $name', ({ baseUrl, auth }) => {
    expect(baseUrl.startsWith('https:')).toBe(auth !== 'none');
  });
});

describe('the target of a route', () => {
  it.each([
    ['https://a.example/v1', 'https://a.example', '/v1'],
    ['https://a.example/v1/', 'https://a.example', '/v1'],
    ['http://127.0.0.1:8000', 'http://127.0.0.1:8000', ''],
    ['https://a.example/x/v4', 'https://a.example', '/x/v4'],
  ])('%s is %s and the path %j', (baseUrl, origin, path) => {
    expect(targetOf(routeTo(upstreamAt(baseUrl)))).toEqual({ origin, path });
  });
});

it('connections with the same origin and timeout share a pool', async () => {
  await using connections = new Connections();
  const pool = connections.pool('http://127.0.0.1:1', 5);
  expect(connections.pool('http://127.0.0.1:1', 5)).toBe(pool);
  expect(connections.pool('http://127.0.0.1:1', 6)).not.toBe(pool);
  expect(connections.pool('http://127.0.0.1:2', 5)).not.toBe(pool);
});
