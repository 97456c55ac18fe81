import { describe, expect, it } from 'vitest';
import { callProvider } from '#core/business/payments/call-provider.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { closedPort } from '../../../support/dead-ends.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';

async function failureOf(script: Handler, method: 'GET' | 'POST', signal = new AbortController().signal) {
  await using provider = await createUpstream(script);
  const call = callProvider({
    method,
    url: `${provider.url}/v2/charge`,
    ...(method === 'POST' && { body: {} }),
    signal,
  });
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PaymentError);
  return error as PaymentError;
}

const hang: Handler = () => Promise.withResolvers<void>().promise;

const faults: [string, Handler][] = [
  [
    'an HTML page',
    (_request, response) => response.send(502, { 'content-type': 'text/html' }, '<html>Bad gateway</html>'),
  ],
  ['cut JSON', (_request, response) => response.send(200, {}, '{"status_code": "20')],
  ['a JSON array', (_request, response) => response.send(200, {}, '[]')],
  ['nothing', (_request, response) => response.send(204, {})],
  ['a redirect to a page', (_request, response) => response.send(302, { location: 'https://example.com/' })],
  ['300 KB', (_request, response) => response.send(200, {}, JSON.stringify({ padding: 'x'.repeat(300_000) }))],
  ['a broken connection', (_request, response) => response.cut()],
];

describe('a provider that answers with', () => {
  it.each(faults)('%s may have made the charge', async (_title, script) => {
    expect((await failureOf(script, 'POST')).kind).toBe('unknown');
  });

  it.each(faults)('%s can be read again', async (_title, script) => {
    expect((await failureOf(script, 'GET')).kind).toBe('temporary');
  });
});

describe('a call to a provider', () => {
  it('ends at its deadline', async () => {
    expect(await failureOf(hang, 'POST', AbortSignal.timeout(50))).toMatchObject({
      kind: 'unknown',
      message: expect.stringContaining('timeout') as string,
    });
  });

  it('that is not accepted by any server had no effect', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    const call = callProvider({ method: 'POST', url, body: {}, signal: new AbortController().signal });
    await expect(call).rejects.toMatchObject({ kind: 'temporary' });
  });

  it('returns any status with its object, and what retry-after states', async () => {
    await using provider = await createUpstream((_request, response) =>
      response.send(429, { 'retry-after': '7' }, '{"status_code":"429"}'),
    );
    const call = callProvider({ method: 'GET', url: provider.url, signal: new AbortController().signal });
    expect(await call).toEqual({ status: 429, body: { status_code: '429' }, retryAfter: 7 });
  });

  it('opens its own connection, because one that was idle may be closed', async () => {
    await using provider = await createUpstream((_request, response) => response.send(200, {}, '{}'));
    for (let n = 0; n < 2; n++)
      await callProvider({ method: 'GET', url: provider.url, signal: new AbortController().signal });
    expect(provider.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });
});
