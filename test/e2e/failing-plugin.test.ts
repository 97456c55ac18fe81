import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startAnsweringUpstream } from '../support/answering-upstream.ts';
import { createGatewayHome, type GatewayHome, type GatewayProcess, yamlFor } from '../support/gateway.ts';

// A whole process, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

/** Throws from every place that a plugin can register. What a request asks for is in its header `x-fail`. */
const faulty = `
import { Readable } from 'node:stream';
const boom = (where) => {
  const error = new Error('faulty ' + where);
  // Failures that are thrown at the same place are logged once a minute.
  error.stack = error.stack.replace('\\n', '\\n    at ' + where + '\\n');
  throw error;
};
const at = (exchange, where) => exchange.headers['x-fail'] === where && boom(where);
const later = async (exchange, where) => { await null; at(exchange, where); };
const options = { type: 'object', additionalProperties: false };
const stage = {
  name: 'faulty', description: 'Fails.', options,
  create: () => ({
    activate: () => boom('activate'),
    start: (exchange) => at(exchange, 'start'),
    enter(exchange) {
      at(exchange, 'enter');
      if (exchange.headers['x-fail'] === 'enter later') return later(exchange, 'enter later');
      if (exchange.headers['x-fail'] === 'deferred') return () => boom('deferred');
    },
    leave(exchange) {
      at(exchange, 'leave');
      if (exchange.headers['x-fail'] === 'leave later') return later(exchange, 'leave later');
    },
    done(exchange) {
      at(exchange, 'done');
      if (exchange.headers['x-fail'] === 'done later') return later(exchange, 'done later');
    },
  }),
};
const broken = (where) => new Readable({ read() { boom(where); } });
const endpoint = (name, answer) => ({ name, method: 'GET', path: '/v1/' + name, isMetered: false, isPublic: true, answer });
const stream = { 'content-type': 'text/event-stream' };

export const plugin = { name: 'faulty', register(server) {
  const { gateway } = server;
  let host;
  gateway.stage(stage);
  gateway.observer({ name: 'faulty', start: (exchange) => at(exchange, 'observer start'), done: (exchange) => at(exchange, 'observer done') });
  gateway.gauge({ name: 'faulty', description: 'Fails.', read: () => boom('gauge') });
  gateway.statusReport({ name: 'faulty', report: () => boom('status report') });
  gateway.healthCheck({ name: 'faulty', check: () => boom('health check') });
  gateway.on('session.created', () => boom('event handler'));
  gateway.on('key.rotated', async () => boom('event handler later'));
  gateway.job({ name: 'faulty', attempts: 1, run: async () => boom('job') });
  gateway.endpoint(endpoint('thrown', () => boom('endpoint')));
  gateway.endpoint(endpoint('rejected', async () => boom('endpoint later')));
  gateway.endpoint(endpoint('body', () => ({ status: 200, headers: stream, body: broken('body') })));
  gateway.endpoint(endpoint('trailers', () => ({
    status: 200, headers: stream, body: Readable.from(['data: 1\\n\\n'], { objectMode: false }),
    trailers: { names: ['x-late'], read: () => boom('trailers') },
  })));
  gateway.endpoint(endpoint('render', () => ({
    status: 200, headers: stream, body: broken('body of render'), renderFailure: () => boom('render failure'),
  })));
  gateway.endpoint(endpoint('trigger', async () => {
    await host.events.publish('session.created', { accountId: 'a', sessionId: 's' });
    await host.events.publish('key.rotated', { accountId: 'a', keyId: 'k' });
    await host.jobs.add('faulty', {});
    await host.database.query("select pg_notify('faulty', 'now')");
    return { status: 200, headers: {}, body: 'triggered' };
  }));
  gateway.page({
    path: '/faulty', role: 'public', title: 'layout.sign_in', show: () => boom('page'),
    live: { topics: ['health'], parts: {}, values: () => boom('live view') },
  });
  server.route({ method: 'GET', path: '/faulty-route', handler: () => boom('hapi handler') });
  server.route({ method: 'GET', path: '/faulty-stream', handler: () => broken('hapi stream') });
  gateway.onConfigured(async (_server, given) => {
    host = given;
    await host.database.notifications.listen('faulty', () => boom('notification'), () => undefined);
  });
} };
`;

let upstream: Awaited<ReturnType<typeof startAnsweringUpstream>>;
let home: GatewayHome;
let gateway: GatewayProcess;
beforeAll(async () => {
  upstream = await startAnsweringUpstream();
  home = await createGatewayHome('');
  await writeFile(join(home.folder, 'faulty.mjs'), faulty);
  await home.write(`plugins: [./faulty.mjs]\n${yamlFor(upstream.baseUrl).replace('- auth\n', '- faulty\n  - auth\n')}`);
  gateway = await home.start();
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** The status, whether or not the body is complete; undefined when there was none. */
async function get(
  url: string,
  headers: Record<string, string> = {},
  signal = AbortSignal.timeout(10_000),
): Promise<number | undefined> {
  const response = await fetch(url, { headers, signal }).catch(() => undefined);
  await response?.text().catch(() => undefined);
  return response?.status;
}

const models = (more: Record<string, string> = {}) =>
  get(`${gateway.url}/v1/models`, { authorization: `Bearer ${home.key}`, ...more });

async function logged(where: string): Promise<void> {
  await vi.waitFor(() => expect(gateway.output()).toMatch(new RegExp(`Error: faulty ${where}$`, 'm')), {
    timeout: 20_000,
  });
}

describe('a plugin that throws', () => {
  it.each([
    ['start', 200],
    ['enter', 500],
    ['enter later', 500],
    ['deferred', 500],
    ['leave', 500],
    ['leave later', 500],
    ['done', 200],
    ['done later', 200],
    ['observer start', 200],
    ['observer done', 200],
  ])('ends nothing else: in the moment "%s" of a stage or observer', async (where, status) => {
    expect(await models({ 'x-fail': where })).toBe(status);
    await logged(where);
    expect(await models()).toBe(200);
  });

  it.each([
    ['an endpoint', '/v1/thrown', 'endpoint'],
    ['a promise of an endpoint', '/v1/rejected', 'endpoint later'],
    ['the trailers of a stream', '/v1/trailers', 'trailers'],
    ['a page', '/faulty', 'page'],
    ['the live parts of a page', '/faulty/live', 'live view'],
    ['a route', '/faulty-route', 'hapi handler'],
  ])('ends nothing else: in %s', async (_, path, where) => {
    // Live streams do not end by themselves, and do nothing for a client that leaves too early.
    const leaving = new AbortController();
    const answer = get(gateway.url + path, {}, leaving.signal);
    await logged(where);
    leaving.abort();
    await answer;
    expect(await models()).toBe(200);
  });

  it.each(['/v1/body', '/v1/render', '/faulty-stream'])(
    'ends nothing else while its body is read: %s',
    async (path) => {
      await get(gateway.url + path);
      expect(await models()).toBe(200);
    },
  );

  it.each(['/metrics', '/readyz?verbose'])('hides nothing else that the operator reads: in %s', async (path) => {
    expect(await get(gateway.operatorUrl + path)).toBe(200);
    expect(await models()).toBe(200);
  });

  it('does not end the gateway: in event handlers, a job and a notification', async () => {
    expect(await get(`${gateway.url}/v1/trigger`)).toBe(200);
    for (const where of ['event handler', 'event handler later', 'job', 'notification']) await logged(where);
    expect(await models()).toBe(200);
  });

  it('lets the gateway exit with 0 on SIGTERM', async () => {
    expect(await gateway.end('SIGTERM')).toBe(0);
    expect(gateway.output()).not.toContain('unhandled');
  });
});
