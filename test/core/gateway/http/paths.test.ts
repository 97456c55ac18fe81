import { describe, expect, it } from 'vitest';
import { EndpointTable, toCanonicalPath } from '#core/gateway/http/paths.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';

const endpoint = (name: string, method: 'GET' | 'POST', path: string): Endpoint => ({
  name,
  method,
  path,
  isMetered: false,
  isAliased: true,
});
const table = new EndpointTable([
  endpoint('messages', 'POST', '/v1/messages'),
  endpoint('list_models', 'GET', '/v1/models'),
  endpoint('get_model', 'GET', '/v1/models/{id*}'),
  endpoint('get_response', 'GET', '/v1/responses/{id}'),
  endpoint('responses', 'POST', '/v1/responses'),
  endpoint('generate', 'POST', '/v1beta/models/{id*}:generateContent'),
  endpoint('rerank', 'POST', '/v1/rerank'),
]);
const found = (method: string, path: string) => {
  const match = table.findEndpoint(method, path);
  return match !== undefined && 'endpoint' in match ? [match.endpoint.name, match.params] : match;
};

describe('the endpoint table', () => {
  it.each([
    '/v1/messages',
    '/v1/messages/',
    '/messages',
    '/messages/',
    '/v1/v1/messages',
    '/v1//messages',
    '//v1/messages//',
    '//messages',
    '/anthropic/v1/messages',
    '/anthropic/messages',
    '//anthropic/v1//messages/',
    '/anthropic/v1/v1/messages',
    '/v1/anthropic/v1/messages',
    '/v1beta/v1/messages',
    '/v1beta/openai/messages',
  ])('finds the endpoint at %s', (path) => {
    expect(found('POST', path)).toEqual(['messages', {}]);
  });

  it.each(['/v1/models/acme/big', '/v1/models/acme%2Fbig', '/models/acme/big/'])(
    'reads an id with a slash from %s',
    (path) => {
      expect(found('GET', path)).toEqual(['get_model', { id: 'acme/big' }]);
    },
  );

  it('does not match a slash with a single segment', () => {
    expect(found('GET', '/v1/responses/a/b')).toBeUndefined();
  });

  it('returns the allowed methods of a path', () => {
    expect(found('GET', '/v1/messages')).toEqual({ allowedMethods: ['POST'] });
    expect(found('DELETE', '/v1/models/x')).toEqual({ allowedMethods: ['GET'] });
  });

  it('takes a method that does not exist for an unknown path', () => {
    expect(found('POST', '/v1/models/x:generate')).toBeUndefined();
    expect(found('PUT', '/v1beta/models/x:generateContent')).toEqual({ allowedMethods: ['POST'] });
  });

  it.each([
    '/v1beta/models/x:generateContent',
    '/v1beta/v1beta/models/x:generateContent',
    '/v1/v1beta/models/x:generateContent',
    '/v1alpha/models/x:generateContent',
    '/v1beta1/publishers/google/models/x:generateContent',
    '/v1/projects/p/locations/global/publishers/dp/models/x:generateContent',
  ])('finds a method of a model at %s', (path) => {
    expect(found('POST', path)).toEqual(['generate', { id: 'x' }]);
  });

  it.each(['/v1beta/dp/x:generateContent', '/v1/v1beta/dp/x:generateContent', '/v1beta/dp%2Fx:generateContent'])(
    'finds a method of a model whose name has a slash at %s, where the AI SDK sends it',
    (path) => {
      expect(found('POST', path)).toEqual(['generate', { id: 'dp/x' }]);
    },
  );

  it('finds no other verb and no resource below such a name', () => {
    expect(found('POST', '/v1beta/dp/x:generate')).toBeUndefined();
    expect(found('GET', '/v1beta/dp/x')).toBeUndefined();
  });

  it("leaves Google's tuned models, about which there is a message", () => {
    const path = '/v1beta/tunedModels/x:generateContent';
    expect(found('POST', path)).toBeUndefined();
    expect(toCanonicalPath(path)).toBe(path);
  });

  it.each(['%2F', '%2F:', 'a/', 'a:'])('needs no long time for a long path of %j', (part) => {
    const startedAt = performance.now();
    expect(found('POST', `/v1beta/${part.repeat(30_000)}`)).toBeUndefined();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  it('finds what Cohere has at /v2/rerank, and nothing else there', () => {
    expect(['/v2/rerank', '/v1/v2/rerank', '/v2/rerank/'].map((path) => found('POST', path))).toEqual(
      Array.from({ length: 3 }, () => ['rerank', {}]),
    );
    expect(found('POST', '/v2/messages')).toBeUndefined();
  });

  it.each(['/v1/message', '/v1', '/', '/anthropic', '/anthropic/', '/v1/v1/v1/v1/messages', '/other/v1/messages'])(
    'finds nothing at %s',
    (path) => {
      expect(found('POST', path)).toBeUndefined();
    },
  );

  it('keeps a malformed escape as it is', () => {
    expect(found('GET', '/v1/models/%E0%A4%A')).toEqual(['get_model', { id: '%E0%A4%A' }]);
  });
});
