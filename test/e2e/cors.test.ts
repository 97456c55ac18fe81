import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';

let open: TestGateway;
let narrow: TestGateway;

beforeAll(async () => {
  const yaml = yamlFor('http://127.0.0.1:1/v1');
  open = await startGateway({ yaml });
  narrow = await startGateway({ yaml });
  await narrow.write(yaml, 'drain_timeout: 5, cors_origins: ["https://app.example.com"]');
  await narrow.gateway.reload();
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await narrow[Symbol.asyncDispose]();
});

const preflight = ({ url }: TestGateway, path: string, origin: string, method = 'POST') =>
  fetch(url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,x-goog-api-key,x-stainless-os',
    },
  });

describe('a page of another origin', () => {
  it.each([
    '/v1/chat/completions',
    '/v1/models',
    '/v1beta/models/dp/test:generateContent',
    '/v1/key',
    '/chat/completions',
  ])('may send its key to %s', async (path) => {
    const response = await preflight(open, path, 'https://anywhere.example');
    expect(response.status).toBe(204);
    const { headers } = response;
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-headers')).toContain('authorization,content-type,x-goog-api-key');
    expect(headers.get('access-control-allow-methods')).toContain('POST');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('reads answers and errors', async () => {
    const headers = { origin: 'https://anywhere.example' };
    const refused = await fetch(`${open.url}/v1/models`, { headers });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
    const listed = await fetch(`${open.url}/v1/models`, {
      headers: { ...headers, authorization: `Bearer ${open.key}` },
    });
    expect([listed.status, listed.headers.get('access-control-expose-headers')]).toEqual([200, '*']);
  });

  it('cannot call pages of the service', async () => {
    const response = await preflight(open, '/account/key', 'https://anywhere.example');
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('is one of those in cors_origins, where there are some', async () => {
    const [listed, other] = await Promise.all(
      ['https://app.example.com', 'https://evil.example'].map((origin) => preflight(narrow, '/v1/models', origin)),
    );
    expect(listed?.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(other?.headers.get('access-control-allow-origin')).toBeNull();
    expect(other?.headers.get('vary')).toBe('origin');
  });

  it('sends requests without an origin, and gets no header then', async () => {
    const response = await fetch(`${open.url}/v1/models`);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});
