import { rotateKey } from '#core/business/accounts/account-key.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { listRequests, maxPage } from '#core/gateway/records/read-requests.ts';
import { vendorOf } from '../conformance/fixture.ts';
import { type TextFormat, textFormats } from '../support/formats.ts';
import { openGatewayHome } from '../support/gateway-home.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';

/** A gateway with one model over an upstream of each format, and a small one over Chat. */
export interface ToolsFixture extends AsyncDisposable {
  readonly url: string;
  readonly slug: string;
  readonly model: ScriptedModel;
  /** The account's key as it is now. */
  readonly key: string;
  /** Replaces the key: the old one is refused from then on. */
  rotate(): Promise<void>;
  /** Requests of model calls that came in this time, oldest first. Waits until `count` records are there or 20 s have passed. */
  recordsOf(period: Period, count: number): Promise<RequestRecord[]>;
}

export interface Period {
  readonly since: number; // epoch ms
  readonly until: number; // epoch ms, exclusive
}

export const smallModel = { name: 'dp/over-mini', route: 'up-mini/there' };

/** Public name of the model over an upstream of this format. */
export function modelOver(format: TextFormat): string {
  return `dp/over-${format}`;
}

/** The only route of this model. */
export function routeOver(format: TextFormat): string {
  return `up-${format}/there`;
}

const recordTimeout = 20_000; // ms
const reloadTimeout = 30_000; // ms
const pollInterval = 100; // ms

/** @param databaseUrl a migrated, empty database */
export async function openToolsFixture(databaseUrl: string): Promise<ToolsFixture> {
  await using resources = new AsyncDisposableStack();
  const model = resources.use(await startScriptedModel());
  const home = resources.use(await openGatewayHome(databaseUrl, writeYaml(model.url)));
  const { url } = resources.use(await home.start());
  // Its port is known only now.
  await home.write(writeYaml(model.url, url));
  await scriptWith(url);
  let { key } = home;
  const owned = resources.move();
  return {
    url,
    slug: 'daypass',
    model,
    get key() {
      return key;
    },
    async rotate() {
      ({ key } = await rotateKey(home.database, 'dp', home.accountId));
    },
    async recordsOf(period, count) {
      const deadline = performance.now() + recordTimeout;
      for (;;) {
        const { records } = await listRequests(home.database, { ...period, isMetered: true }, { limit: maxPage });
        if (records.length >= count || performance.now() > deadline) return records.toReversed();
        await new Promise((resolve) => setTimeout(resolve, pollInterval));
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Waits until the gateway has loaded the configuration in which its address is. */
async function scriptWith(url: string): Promise<void> {
  const deadline = performance.now() + reloadTimeout;
  while (!(await (await fetch(`${url}/setup.sh`)).text()).includes(url)) {
    if (performance.now() > deadline) throw new Error(`/setup.sh has no address ${url}`);
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}

/** @param baseUrl of the gateway itself, where it is known */
function writeYaml(url: string, baseUrl = ''): string {
  const names = [...textFormats, 'mini'] as const;
  const upstreams = names.map((name) => {
    const format = name === 'mini' ? 'chat' : name;
    return `  up-${name}: { vendor: ${vendorOf[format]}, format: ${format}, base_url: "${url}/v1", api_keys: [key-of-${name}] }`;
  });
  const limits = 'max_input_tokens: 200000, max_tokens: 32000';
  const models = names.map((name) => `  over-${name}: { ${limits}, routes: [up-${name}/there] }`);
  return `
service: { base_url: "${baseUrl}" }
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 100000, period: 1, burst: 100000, concurrent: 1000 }
  - format
  - upstream
  - log
upstreams:
${upstreams.join('\n')}
models:
${models.join('\n')}
`;
}
