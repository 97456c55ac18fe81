/**
 * `npm run rolling`: two gateways behind each proxy with the examples of deploy/proxies. Replaces one after the other under load,
 * twice, lets clients leave, then kills one and both. Installs the proxies as `npm run proxies` does. Prints their versions and what
 * clients saw, and exits with 1 when a figure is missed or a proxy is missing.
 *
 *     npm run rolling -- --only nginx,caddy
 *     npm run rolling -- --cache FOLDER       where the proxies are installed and kept
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { type Proxy, proxies, type RunningProxy } from '../proxies/proxies.ts';
import { type GatewayHome, type GatewayProcess, openGatewayHome } from '../support/gateway-home.ts';
import { copyDatabase, startPostgres, withDatabase } from '../support/global-postgres.ts';
import { startRedis } from '../support/global-redis.ts';
import { cacheFor, installProgram, versionOf } from '../support/install-program.ts';
import { leave } from './departures.ts';
import { Load } from './load.ts';
import { closeServer, startUpstream } from './upstream.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, cache: { type: 'string', default: cacheFor('proxies') } },
});
const only = values.only?.toLowerCase().split(',');

/** Requests and streams behind each proxy. */
const aims = { requests: { atOnce: 30, atLeast: 5_000 }, streams: { atOnce: 15, atLeast: 200 } };

await using postgres = await startPostgres();
await using redis = await startRedis();
if (redis === undefined) throw new Error('two gateways share a Redis: install redis-server');
let missed = 0;
for (const proxy of proxies) {
  if (only !== undefined && !only.includes(proxy.name.toLowerCase())) continue;
  missed += await tryProxy(proxy, redis.url);
}
process.exitCode = missed === 0 ? 0 : 1;

/** @returns how many figures were missed */
async function tryProxy(proxy: Proxy, redisUrl: string): Promise<number> {
  await using opened = new AsyncDisposableStack();
  const upstream = await startUpstream();
  opened.defer(() => closeServer(upstream));
  const name = `rolling_${proxy.name.toLowerCase()}`;
  await copyDatabase(postgres.url, postgres.templateDatabase, name);
  const [one, two, port] = await freePorts();
  const home = opened.use(await openGatewayHome(withDatabase(postgres.url, name), ''));
  await writeFile(home.file, yaml((upstream.address() as AddressInfo).port));
  const start = (own: number) => home.start({ PORT: String(own), REDIS_URL: redisUrl });
  const ports = [one, two];
  const gateways = await Promise.all(ports.map(start));
  const folder = await mkdtemp(join(tmpdir(), 'daypass-proxy-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const installed = await installProgram(values.cache, proxy.source);
  console.log(`${proxy.name} ${await versionOf(installed, proxy.versionOption)}`);
  const running = opened.use(await proxy.start(installed, folder, { port, instances: ports }));
  const url = `https://localhost:${port}`;
  await untilServed(url);
  const load = new Load({ url, key: home.key, ...aims });
  await setTimeout(3_000);
  for (let round = 0; round < 2; round++)
    for (const [index, own] of ports.entries()) gateways[index] = await replace(running, gateways[index], own, start);
  await load.finish();
  const closed = load.failures.filter(({ text }) => proxy.known?.['a reload']?.test(text) === true);
  if (closed.length > 0)
    console.log(`known  ${proxy.name}: requests on connections closed by a reload: ${closed.length}`);
  const unanswered = load.failures.filter((failure) => failure.kind === 'request' && !closed.includes(failure));
  const cut = load.failures.filter((failure) => failure.kind === 'stream' && !closed.includes(failure));
  // What a proxy cannot pass on is known.
  const leaving = proxy.known?.['client leaves a call'] === undefined ? 10 : 0;
  const figures = [
    figure(proxy, `${load.requests} requests while instances were replaced four times: not answered`, unanswered),
    figure(proxy, `${load.streams} streams: cut or not answered`, cut),
    figure(proxy, `${leaving} clients that left: not noticed`, await leave({ url, key: home.key, upstream }, leaving)),
    ...(await tryOutage(proxy, url, home, gateways)),
  ];
  const missedHere = figures.filter((isMet) => !isMet).length;
  // Why it thought that there was no instance.
  if (missedHere > 0) console.log(running.output().slice(-3_000));
  return missedHere;
}

/** A proxy may listen before it has read its routes, and answers 404 until then. @throws Error after ten seconds */
async function untilServed(url: string): Promise<void> {
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  for (let time = 0; time < 100; time++) {
    const answer = await request(`${url}/readyz`, { dispatcher: agent }).catch(() => undefined);
    await answer?.body.dump();
    if (answer?.statusCode === 200) return agent.close();
    await setTimeout(100);
  }
  throw new Error('the proxy does not lead to a gateway within ten seconds');
}

/** Stops a gateway as a supervisor does, and starts another one in its place. */
async function replace(
  proxy: RunningProxy,
  gateway: GatewayProcess | undefined,
  port: number,
  start: (port: number) => Promise<GatewayProcess>,
): Promise<GatewayProcess> {
  await proxy.takeOut(port);
  const code = await gateway?.end('SIGTERM');
  if (code !== 0) console.log(`a gateway ended with ${code}:\n${gateway?.output().slice(-2_000)}`);
  const next = await start(port);
  await proxy.putBack(port);
  return next;
}

/** What clients see of one instance that is killed, and of both; and what of the operator's they can reach. */
async function tryOutage(proxy: Proxy, url: string, home: GatewayHome, gateways: GatewayProcess[]): Promise<boolean[]> {
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  const get = async (path: string) => {
    const { statusCode, headers, body } = await request(`${url}${path}`, { dispatcher: agent });
    return { status: statusCode, type: String(headers['content-type']), text: await body.text() };
  };
  const metrics = await get('/metrics');
  const verbose = await get('/readyz?verbose');
  const load = new Load({
    url,
    key: home.key,
    requests: { atOnce: 10, atLeast: 300 },
    streams: { atOnce: 5, atLeast: 10 },
  });
  await setTimeout(1_000);
  await gateways[0]?.end('SIGKILL');
  await load.finish();
  const html = load.failures.filter(({ contentType }) => contentType.includes('html'));
  await gateways[1]?.end('SIGKILL');
  await setTimeout(3_000);
  const down = await get('/v1/models');
  await agent.close();
  const isKnown = proxy.known?.['no gateway']?.test(`${down.status} ${down.type}`) === true;
  const isRead = down.status === 503 && down.type.includes('json') && down.text.includes('UNAVAILABLE');
  return [
    figure(proxy, `${load.requests} requests and ${load.streams} streams around kill -9 of one instance: HTML`, html),
    figure(proxy, 'both instances down: not an error in JSON with 503', isRead || isKnown ? [] : [down]),
    figure(
      proxy,
      "the operator's listener: reachable",
      metrics.status === 404 && !verbose.text.includes('checks') ? [] : [metrics, verbose],
    ),
  ];
}

function figure({ name }: Proxy, what: string, wrong: readonly object[]): boolean {
  console.log(`${wrong.length === 0 ? 'ok    ' : 'MISSED'} ${name}: ${what}: ${wrong.length} (aim: 0)`);
  for (const one of wrong.slice(0, 5)) console.log(`         ${JSON.stringify(one)}`);
  return wrong.length === 0;
}

function yaml(upstream: number): string {
  return `listen:
  host: 127.0.0.1
  port: \${PORT}
  notice_period: 5
  drain_timeout: 30
  trusted_proxies: [127.0.0.1]
operator: { enabled: false }
pipeline: [auth, plan, { rate-limit: { limit: 1000000, period: 60, burst: 100000, concurrent: 1000 } }, cache, format, upstream, log]
upstreams: { rolled: { format: chat, base_url: "http://127.0.0.1:${upstream}/v1", api_keys: [none] } }
models: { rolled: { routes: [rolled/model] } }
`;
}

/** Ports for two instances and a proxy; held together, so that they differ. */
async function freePorts(): Promise<[number, number, number]> {
  const servers = await Promise.all(
    [0, 1, 2].map(async () => {
      const server = createServer();
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map(closeServer));
  return ports as [number, number, number];
}
