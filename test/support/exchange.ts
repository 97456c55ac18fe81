import type { IncomingHttpHeaders } from 'node:http';
import { detectDialect } from '#core/gateway/http/dialect.ts';
import { parseJsonBody } from '#core/gateway/http/request-body.ts';
import { type BodySource, type Endpoint, Exchange } from '#core/gateway/pipeline/exchange.ts';
import { descriptors } from './formats.ts';

export interface ExchangeFixture {
  readonly endpoint?: Endpoint;
  readonly headers?: IncomingHttpHeaders;
  readonly body?: string | object;
  readonly id?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
}

export const chatEndpoint: Endpoint = {
  name: 'chat',
  method: 'POST',
  path: '/v1/chat/completions',
  format: descriptors.chat,
  isMetered: true,
};
export const modelsEndpoint: Endpoint = { name: 'list_models', method: 'GET', path: '/v1/models', isMetered: false };

/** Has no socket, for tests of single stages. */
export function createExchange({
  endpoint = chatEndpoint,
  headers = {},
  body = '',
  id = 'req_test',
  params = {},
  query = '',
}: ExchangeFixture = {}): Exchange {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const source: BodySource = {
    bytes: async () => Buffer.from(text),
    text: async () => text,
    json: async () => parseJsonBody(text),
  };
  return new Exchange({
    id,
    endpoint,
    params,
    dialect: detectDialect(endpoint, headers),
    method: endpoint.method,
    path: endpoint.path,
    query: new URLSearchParams(query),
    headers,
    remoteAddress: '127.0.0.1',
    receivedAt: Date.now(),
    body: source,
  });
}
