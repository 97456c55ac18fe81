/**
 * `npm run proxies`: a gateway behind each real proxy, with our files of deploy/proxies and one instance, TLS included. Installs the
 * proxies below a cache, from Debian and PyPI, and fails when one is missing. Runs `daypass doctor --url` against each, and some calls
 * of clients. Prints the versions, and exits with 1 when anything is not as docs/proxies.md says.
 *
 *     npm run proxies -- --only nginx,caddy
 *     npm run proxies -- --cache FOLDER       where they are installed and kept
 */
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { closeServer, startUpstream } from '../rolling/upstream.ts';
import { freePort } from '../support/free-port.ts';
import { openGatewayHome } from '../support/gateway-home.ts';
import { copyDatabase, startPostgres, withDatabase } from '../support/global-postgres.ts';
import { cacheFor, installProgram, versionOf } from '../support/install-program.ts';
import { type Behind, tryCalls, tryDoctor, tryOutage } from './cases.ts';
import { proxies, type Proxy } from './proxies.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, cache: { type: 'string', default: cacheFor('proxies') } },
});
const only = values.only?.toLowerCase().split(',');
const chosen = proxies.filter(({ name }) => only?.includes(name.toLowerCase()) ?? true);
if (chosen.length === 0) {
  console.error(`No such proxy. Proxies: ${proxies.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

await using postgres = await startPostgres();
await using opened = new AsyncDisposableStack();
const upstream = await startUpstream();
opened.defer(() => closeServer(upstream));
await copyDatabase(postgres.url, postgres.templateDatabase, 'proxies');
const home = opened.use(await openGatewayHome(withDatabase(postgres.url, 'proxies'), ''));
await home.write(
  yaml((upstream.address() as AddressInfo).port, await freePort()),
  'drain_timeout: 5, trusted_proxies: [127.0.0.1]',
);
const gateway = await home.start();
const behind: Behind[] = [];
for (const proxy of chosen) behind.push(await start(proxy));

const faults = new Map<Behind, string[]>(behind.map((one) => [one, []]));
await tryAll((one) => tryDoctor(one, home));
await tryAll((one) => tryCalls(one, home.key));
await gateway.end('SIGKILL');
// Their health checks notice it.
await setTimeout(3_000);
await tryAll(tryOutage);
for (const [{ proxy, version }, own] of faults) {
  console.log(`${own.length === 0 ? 'ok    ' : 'FAILED'} ${proxy.name} ${version}`);
  for (const fault of own) console.log(`         ${fault}`);
}
process.exitCode = faults.values().every(({ length }) => length === 0) ? 0 : 1;

/** Behind all proxies at once: most of it is waiting. */
async function tryAll(attempt: (one: Behind) => Promise<string[]>): Promise<void> {
  await Promise.all(behind.map(async (one) => faults.get(one)?.push(...(await attempt(one)))));
}

/** @throws Error when it cannot be installed, or does not start */
async function start(proxy: Proxy): Promise<Behind> {
  const installed = await installProgram(values.cache, proxy.source);
  const version = await versionOf(installed, proxy.versionOption);
  const folder = await mkdtemp(join(tmpdir(), 'daypass-proxy-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  opened.use(await proxy.start(installed, folder, { port, instances: [Number(new URL(gateway.url).port)] }));
  return { proxy, version, url: `https://localhost:${port}` };
}

function yaml(upstreamPort: number, operatorPort: number): string {
  return `operator: { port: ${operatorPort} }
pipeline: [auth, plan, format, upstream, log]
upstreams: { mock: { format: chat, base_url: "http://127.0.0.1:${upstreamPort}/v1", api_keys: [none] } }
models: { mock: { routes: [mock/model] } }
`;
}
