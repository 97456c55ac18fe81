import type { IncomingHttpHeaders } from 'node:http';
import { Keeper } from '#core/extension/keeper.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type BodySource, type Endpoint, Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Database } from '#core/platform/database/database.ts';
import { descriptors } from '../../../support/formats.ts';

/** The parts of a host that callers and their plans are known by. Disposing it releases what stages keep. */
export function createStageHost(database: Host['database']): Host & AsyncDisposable {
  const keeper = new Keeper();
  const host: Partial<Host> & AsyncDisposable = {
    service: { name: 'Daypass', prefix: 'dp', slug: 'daypass', baseUrl: 'https://gateway.example', contact: undefined },
    database,
    log: { info() {}, warn() {}, error() {} },
    isProduction: false,
    now: () => Date.now(),
    keep: (key, create) => keeper.keep(key, create),
    [Symbol.asyncDispose]: () => keeper[Symbol.asyncDispose](),
  };
  return host as Host & AsyncDisposable;
}

/** A database whose queries can be counted, and made to fail, and whose clock can be set as far as accounts are concerned. */
export function createGauge(database: Database) {
  const gauge = { queries: 0, failure: undefined as Error | undefined, step: 0 };
  const query = async (sql: string, parameters?: readonly unknown[]) => {
    gauge.queries++;
    if (gauge.failure !== undefined) throw gauge.failure;
    const rows = await database.query<{ read_at?: number }>(sql, parameters);
    return rows.map((row) => (row.read_at === undefined ? row : { ...row, read_at: row.read_at + gauge.step }));
  };
  const gauged: Database = Object.create(database, {
    query: { value: query },
    queryFirst: { value: query },
    fork: { value: () => database.fork() },
    notifications: { get: () => database.notifications },
  });
  return { gauge, gauged };
}

export const modelCall: Endpoint = {
  name: 'chat',
  method: 'POST',
  path: '/v1/chat/completions',
  format: descriptors.chat,
  isMetered: true,
};
export const freeCall: Endpoint = { name: 'list_models', method: 'GET', path: '/v1/models', isMetered: false };

const noBody: BodySource = {
  bytes: () => Promise.reject(new Error('the body is read too early')),
  text: () => Promise.reject(new Error('the body is read too early')),
  json: () => Promise.reject(new Error('the body is read too early')),
};

export function createExchange(
  headers: IncomingHttpHeaders = {},
  {
    endpoint = modelCall,
    query = '',
    remoteAddress = '127.0.0.1',
  }: { endpoint?: Endpoint; query?: string; remoteAddress?: string } = {},
): Exchange {
  return new Exchange({
    id: 'req_test',
    endpoint,
    params: {},
    dialect: 'openai',
    method: endpoint.method,
    path: endpoint.path,
    query: new URLSearchParams(query),
    headers,
    remoteAddress,
    receivedAt: Date.now(),
    body: noBody,
  });
}
