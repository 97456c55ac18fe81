import { randomBytes } from 'node:crypto';
import { type BlackHole, closedPort, createBlackHole } from '../support/dead-ends.ts';
import { createUpstream, type FaultyUpstream, type RecordedRequest } from '../support/faulty-upstream.ts';
import { type GatewayHome, type GatewayProcess, openGatewayHome } from '../support/gateway-home.ts';
import { copyDatabase, execute, type TestPostgres, withDatabase } from '../support/global-postgres.ts';
import { createTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type ChaosFormat, chaosFormats, readAsked, writeAnswer } from './answers.ts';
import { Client } from './client.ts';
import { type FaultScript, faultScripts, playFine, type Scene } from './faults.ts';
import { untilRead } from './reading.ts';

/** The client's format and the upstream's. The gateway translates where they differ. */
export interface Lane {
  readonly client: ChaosFormat;
  readonly upstream: ChaosFormat;
}

export const lanes: readonly Lane[] = [
  ...chaosFormats.map((format) => ({ client: format, upstream: format })),
  { client: 'chat', upstream: 'messages' },
  { client: 'messages', upstream: 'chat' },
  { client: 'responses', upstream: 'messages' },
  { client: 'gemini', upstream: 'chat' },
  { client: 'messages', upstream: 'gemini' },
];

/** The model with this fault on this lane. */
export function modelOf({ name }: Pick<FaultScript, 'name'>, { client, upstream }: Lane): string {
  return client === upstream ? name : `${name}@${upstream}`;
}

/** True when the lane can have the fault: without an upstream, nothing is translated. */
export function fits({ upstream }: FaultScript, lane: Lane): boolean {
  return upstream === undefined || lane.client === lane.upstream;
}

export interface ChaosFixtureOptions {
  /** Options of the `upstream` stage. The default disables breaker and budget, so that every request meets its fault. */
  readonly stage?: string;
  /** False lets the upstream forget finished requests, for long runs. */
  readonly keepsRequests?: boolean;
  /** Further models of the upstream, beside the faults and their backup `fine`. */
  readonly plays?: Readonly<Record<string, (scene: Scene, request: RecordedRequest) => void | Promise<void>>>;
  /** Options of these models in gateway.yaml. */
  readonly models?: Readonly<Record<string, string>>;
}

/** Failing upstreams, a PostgreSQL that can be disconnected, and gateways. */
export interface ChaosFixture extends AsyncDisposable {
  readonly home: GatewayHome;
  readonly upstream: FaultyUpstream;
  /** The proxy between the gateways and PostgreSQL; `home.database` does not use it. */
  readonly database: TcpProxy;
  /** The gateway.yaml of `start`; `home.write` takes it with changes. */
  readonly yaml: string;
  start(environment?: Record<string, string>): Promise<GatewayProcess>;
  /** Starts a gateway, and waits until it has read its key. */
  serve(environment?: Record<string, string>): Promise<GatewayProcess>;
  client(gateway: GatewayProcess): Client;
}

/** Seconds that the model `dead-route` waits for a connection that never opens. */
const connectTimeout = 2;

/** Ms for a gateway to read its first key, and between two looks. */
const knownTimeout = 60_000;
const pollInterval = 200;

const everyRequestMeetsItsFault =
  '{ retry_share: 1, breaker: { failures: 1000, failure_ratio: 1, minimum_calls: 100000 } }';

export async function openChaosFixture(
  postgres: TestPostgres,
  options: ChaosFixtureOptions = {},
): Promise<ChaosFixture> {
  await using resources = new AsyncDisposableStack();
  const upstream = resources.use(
    await createUpstream((request, response) => play(request, response, options), {
      keeps: options.keepsRequests ?? true,
    }),
  );
  const blackHole = resources.use(await createBlackHole());
  const name = `daypass_chaos_${randomBytes(6).toString('hex')}`;
  await copyDatabase(postgres.url, postgres.templateDatabase, name);
  resources.defer(async () => execute(postgres.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  const { hostname: host, port } = new URL(postgres.url);
  const database = resources.use(await createTcpProxy({ host, port: Number(port || 5432) }));
  const yaml = await writeYaml(upstream.url, blackHole, options);
  const home = resources.use(await openGatewayHome(withDatabase(postgres.url, name), yaml));
  const throughProxy = new URL(home.databaseUrl);
  throughProxy.host = `127.0.0.1:${database.port}`;
  const start = (environment: Record<string, string> = {}) =>
    home.start({ DATABASE_URL: throughProxy.href, ...environment });
  const owned = resources.move();
  return {
    home,
    upstream,
    database,
    yaml,
    start,
    async serve(environment = {}) {
      const gateway = await start(environment);
      await untilKnown(home.key, gateway);
      return gateway;
    },
    client: (gateway) => owned.use(new Client(gateway.url, home.key)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Waits until the gateway has read its key. Where the machine needs seconds for that, a gateway refuses unknown keys with 503, as it
 * should; experiments are about what comes after.
 */
async function untilKnown(key: string, { url, output }: GatewayProcess): Promise<void> {
  const end = performance.now() + knownTimeout;
  while ((await fetch(`${url}/v1/key`, { headers: { authorization: `Bearer ${key}` } })).status !== 200) {
    if (performance.now() > end) throw new Error(`the gateway does not know its key:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}

let answerCount = 0;

async function play(
  request: RecordedRequest,
  response: Scene['response'],
  { plays = {} }: ChaosFixtureOptions,
): Promise<void> {
  const { format, model, isStream } = readAsked(request);
  const id = `${model}-${++answerCount}`;
  const scene: Scene = {
    response,
    answer: writeAnswer(format, id),
    isStream,
    isRead: () => untilRead(`${id}.0 `, response.closed),
  };
  const script = plays[model] ?? faultScripts.find(({ name }) => name === model)?.play ?? playFine;
  await script(scene, request);
}

async function writeYaml(
  url: string,
  blackHole: BlackHole,
  { stage, plays = {}, models: options = {} }: ChaosFixtureOptions,
): Promise<string> {
  const all = `[${chaosFormats.join(', ')}]`;
  const models = faultScripts.flatMap((fault) =>
    lanes.filter((lane) => fits(fault, lane)).map((lane) => [modelOf(fault, lane), routesOf(fault, lane)] as const),
  );
  return `
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 1000000, period: 1, burst: 1000000, concurrent: 100000 }
  - cache
  - format
  - upstream: ${stage ?? everyRequestMeetsItsFault}
  - log
upstreams:
${faultyUpstreams(url, all).join('\n')}
  faulty: { format: ${all}, base_url: "${url}/v1" }
  backup: { format: ${all}, base_url: "${url}/v1" }
  refusing: { format: ${all}, base_url: "http://127.0.0.1:${await closedPort()}/v1" }
  black-hole: { format: ${all}, base_url: "http://127.0.0.1:${blackHole.port}/v1" }
  nameless: { format: ${all}, base_url: "http://nameless.invalid/v1" }
  not-tls: { format: ${all}, base_url: "${url.replace('http:', 'https:')}/v1" }
models:
  fine: { routes: [backup/fine] }
  dead-route: { routes: [{ to: black-hole/dead, connect_timeout: ${connectTimeout} }, backup/fine] }
${Object.keys(plays)
  .map((name) => `  ${name}: { routes: [faulty/${name}, backup/fine], ${options[name] ?? ''} }`)
  .join('\n')}
${Object.entries(Object.fromEntries(models))
  .map(([name, routes]) => `  ${name}: { routes: ${routes} }`)
  .join('\n')}
`;
}

/** One upstream per fault and lane, because a key cools down for its whole upstream. */
function faultyUpstreams(url: string, all: string): string[] {
  return faultScripts
    .filter(({ upstream }) => upstream === undefined)
    .flatMap((fault) => [
      ...new Set(
        lanes.map((lane) => `  ${upstreamOf(fault, lane)}: { format: ${formatsOf(lane, all)}, base_url: "${url}/v1" }`),
      ),
    ]);
}

function formatsOf({ client, upstream }: Lane, all: string): string {
  return client === upstream ? all : upstream;
}

function upstreamOf({ name, upstream }: FaultScript, lane: Lane): string {
  return upstream ?? (lane.client === lane.upstream ? `faulty-${name}` : `faulty-${name}-${lane.upstream}`);
}

/** The faulty route and its backup. */
function routesOf(fault: FaultScript, lane: Lane): string {
  const members = Object.entries({ to: `${upstreamOf(fault, lane)}/${fault.name}`, ...fault.limits });
  return `[{ ${members.map(([key, value]) => `${key}: ${value}`).join(', ')} }, backup/fine]`;
}
