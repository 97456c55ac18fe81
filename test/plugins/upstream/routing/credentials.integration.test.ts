import { describe, expect, it } from 'vitest';
import { delivery } from '#core/gateway/facts.ts';
import { listSecrets } from '#core/gateway/model-call/upstream-credentials.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { exchangeFor, refusalOf, routeTo, upstreamAt, useRelay } from '../fixture.ts';

const fixture = useRelay();

describe('the secrets that errors of an upstream never show', () => {
  const message =
    'bad thing for key topsecretvendorkey at host internal-llm.corp.example:8443 user ops@corp.example: too hot';
  const error = { message, code: 'bad_topsecretvendorkey', param: 'topsecretvendorkey' };

  it.each([
    ['a refusal', (_request, response) => response.json(400, { error })],
    ['an answer', (_request, response) => response.json(200, { error })],
  ] satisfies [string, Handler][])(
    'are its keys, hosts and people, in %s and in the record of it',
    async (_name, play) => {
      await using upstream = await createUpstream(play);
      const exchange = exchangeFor([routeTo(upstreamAt(upstream.url, { apiKeys: ['topsecretvendorkey'] }))]);
      const told = await refusalOf(fixture.relay(exchange));
      const seen = JSON.stringify([told.message, told.details, exchange.get(delivery).attempts]);
      expect(seen).toContain('bad thing for key […] at host […] user […]: too hot');
      expect(seen).not.toMatch(/topsecret|corp\.example/);
    },
  );

  it('are its keys, its host and its headers with credentials', () => {
    const upstream = upstreamAt('https://llm.corp.example:8443/v1', {
      apiKeys: ['topsecretvendorkey'],
      headers: { 'x-gateway-token': 'another-secret', 'anthropic-version': '2023-06-01' },
    });
    expect(listSecrets(upstream)).toEqual([
      'llm.corp.example:8443',
      'topsecretvendorkey',
      'llm.corp.example',
      'another-secret',
    ]);
  });

  it('do not include ordinary words that equal a host or a short key', () => {
    expect(listSecrets(upstreamAt('http://model/v1', { apiKeys: ['a'] }))).toEqual([]);
  });
});
