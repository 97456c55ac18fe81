import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GatewayProcess } from '../support/gateway-home.ts';
import type { TestPostgres } from '../support/global-postgres.ts';
import { Bystanders, type Seen } from './bystanders.ts';
import { type Figure, noneOf } from './figure.ts';
import { type ChaosFixture, openChaosFixture } from './fixture.ts';

const MiB = 1024 * 1024;
const sampleEvery = 50; // ms
/** As `npm start` sets them: glibc otherwise keeps what large bodies have freed, see docs/operating/health.md. */
const allocator = { MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '262144' };
/** What small requests and `/livez` may take beside any attack, in ms. */
const aims = { request: 1_000, health: 500 };

export interface SmallGatewayOptions {
  readonly postgres: TestPostgres;
  readonly megabytes: number; // of the process
  /** Models by name, with what their upstream answers. It does not keep the requests. */
  readonly models: Readonly<Record<string, (response: ServerResponse) => void>>;
  /** Changes of gateway.yaml. */
  readonly change?: (yaml: string) => string;
  /** Prepares the fixture, and returns the environment of the process. */
  readonly prepare?: (fixture: ChaosFixture) => Promise<Record<string, string>>;
}

/** A gateway with little memory, which is watched, and small requests beside what attacks it. */
export class SmallGateway implements AsyncDisposable {
  readonly fixture: ChaosFixture;
  readonly process: GatewayProcess;
  readonly #bystanders: Bystanders;
  readonly #resources: AsyncDisposableStack;
  readonly #limit: number; // MiB
  #peak = 0; // MiB

  private constructor(
    { megabytes }: SmallGatewayOptions,
    parts: { fixture: ChaosFixture; process: GatewayProcess; bystanders: Bystanders },
    resources: AsyncDisposableStack,
  ) {
    this.#limit = megabytes;
    this.fixture = parts.fixture;
    this.process = parts.process;
    this.#bystanders = parts.bystanders;
    this.#resources = resources;
    const timer = setInterval(() => void this.#sample(), sampleEvery);
    resources.defer(() => clearInterval(timer));
  }

  static async start(options: SmallGatewayOptions): Promise<SmallGateway> {
    await using resources = new AsyncDisposableStack();
    const bystanders = resources.use(await Bystanders.open());
    const upstream = createServer((request, response) => {
      const name = request.url?.split('/')[1] ?? '';
      request.resume().once('end', () => options.models[name]?.(response));
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    resources.defer(() => {
      upstream.closeAllConnections();
      upstream.close();
    });
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const fixture = resources.use(await openChaosFixture(options.postgres));
    const { change = (yaml: string) => yaml, prepare } = options;
    await fixture.home.write(change(yamlFor(options, url, bystanders.upstream)));
    // Not through the proxy of the fixture, which the attack would keep waiting: keys are looked up in the database.
    const environment = await prepare?.(fixture);
    const flags = [heapIn(options.megabytes), environment?.['NODE_OPTIONS'] ?? ''].join(' ');
    const started = await fixture.home.start({ ...environment, ...allocator, NODE_OPTIONS: flags });
    // The key is known from then on: what the attack delays is not the database.
    await fetch(`${started.url}/v1/models`, { headers: { authorization: `Bearer ${fixture.home.key}` } });
    bystanders.begin({ url: started.url, key: fixture.home.key });
    return new SmallGateway(options, { fixture, process: started, bystanders }, resources.move());
  }

  get url(): string {
    return this.process.url;
  }

  /** What the gateway and the bystanders have come through. */
  async figures(attack: string): Promise<Figure[]> {
    const seen = await this.#bystanders.end();
    const { exitCode, signalCode } = this.process.process;
    const end = exitCode ?? signalCode;
    return [
      noneOf(`${attack}: ends of the gateway`, 1, end === null ? [] : [`${end}\n${this.process.output().slice(-500)}`]),
      {
        name: `${attack}: MiB that the process had at most`,
        count: 1,
        seen: String(this.#peak),
        aim: `at most ${this.#limit}`,
        isMet: this.#peak <= this.#limit,
        // On a machine that is too slow, garbage is collected late.
        isTimed: true,
        limit: { ms: aims.request, of: 'elapsed' },
      },
      ...bystanderFigures(attack, seen),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]();
  }

  async #sample(): Promise<void> {
    const status = await readFile(`/proc/${this.process.process.pid}/status`, 'utf8').catch(() => '');
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
    this.#peak = Math.max(this.#peak, Math.round(kilobytes / 1024));
  }
}

/** What Node takes by itself in a container of that size: half of it, and 4 MB at 512 MB for each semi-space. */
function heapIn(megabytes: number): string {
  return `--max-old-space-size=${megabytes / 2} --max-semi-space-size=${megabytes / 128}`;
}

function bystanderFigures(attack: string, { statuses, requests, health }: Seen): Figure[] {
  const count = Object.values(statuses).reduce((sum, one) => sum + one, 0);
  const answered = statuses['200'] ?? 0;
  return [
    {
      name: `${attack}: small requests that got 200`,
      count,
      seen: `${answered} of ${JSON.stringify(statuses)}`,
      aim: 'at least 99 %',
      isMet: count > 0 && answered >= count * 0.99,
    },
    timed(`${attack}: p99 of small requests, ms`, requests, 0.99, aims.request),
    timed(`${attack}: the slowest /livez, ms`, health, 1, aims.health),
  ];
}

function timed(name: string, times: readonly number[], part: number, aim: number): Figure {
  const sorted = times.toSorted((a, b) => a - b);
  const seen = Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN);
  return {
    name,
    count: times.length,
    seen: String(seen),
    aim: `at most ${aim}`,
    isMet: seen <= aim,
    isTimed: true,
    limit: { ms: aim, of: 'elapsed' },
  };
}

function yamlFor({ megabytes, models }: SmallGatewayOptions, url: string, quick: string): string {
  const names = Object.keys(models);
  return `
memory: { max_bytes: ${megabytes * MiB} }
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 1000000, period: 1, burst: 1000000, concurrent: 100 }
  - cache
  - format
  - upstream: { breaker: { failures: 1000, failure_ratio: 1, minimum_calls: 100000 } }
  - log
upstreams:
  quick: { format: chat, base_url: "${quick}/v1" }
${names.map((name) => `  ${name}: { format: ${name.startsWith('translated') ? 'messages' : 'chat'}, base_url: "${url}/${name}/v1" }`).join('\n')}
models:
  quick: { routes: [quick/quick] }
${names.map((name) => `  ${name}: { routes: [${name}/${name}] }`).join('\n')}
`;
}
