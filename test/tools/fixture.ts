import { rotateKey } from '#core/business/accounts/account-key.ts';
import { revokeDays } from '#core/business/accounts/ledger.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { listRequests, exportPageSize } from '#core/gateway/records/read-requests.ts';
import { vendorOf } from '../conformance/fixture.ts';
import { callYaml } from '../support/call-yaml.ts';
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
  /** Takes a model out of the catalog. */
  remove(model: string): Promise<void>;
  endPlan(): Promise<void>;
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
  await until(async () => (await (await fetch(`${url}/setup.sh`)).text()).includes(url));
  let { key } = home;
  const owned = resources.move();
  return {
    url,
    slug: 'daypass',
    model,
    get key() {
      return key;
    },
    async remove(name) {
      await home.write(writeYaml(model.url, url, name));
      const headers = { authorization: `Bearer ${key}` };
      await until(async () => !(await (await fetch(`${url}/v1/models`, { headers })).text()).includes(name));
    },
    async endPlan() {
      await home.database.fork().transactional((transaction) => revokeDays(transaction, home.accountId, 2, 'errors'));
    },
    async rotate() {
      ({ key } = await rotateKey(home.database, 'dp', home.accountId));
    },
    async recordsOf(period, count) {
      const deadline = performance.now() + recordTimeout;
      for (;;) {
        const { records } = await listRequests(
          home.database,
          { ...period, isMetered: true },
          { limit: exportPageSize },
        );
        if (records.length >= count || performance.now() > deadline) return records.toReversed();
        await new Promise((resolve) => setTimeout(resolve, pollInterval));
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Waits until the gateway has loaded a configuration. */
async function until(isLoaded: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + reloadTimeout;
  while (!(await isLoaded())) {
    if (performance.now() > deadline) throw new Error('the gateway has not loaded its configuration');
    await new Promise((resolve) => setTimeout(resolve, pollInterval));
  }
}

/** Statuses of errors that a model of their own ends with: `fails-424`. */
export const failingModels = ['404', '424', '429', '503'];

/**
 * @param baseUrl of the gateway itself, where it is known
 * @param removed a model that is left out
 */
function writeYaml(url: string, baseUrl = '', removed = ''): string {
  const names = [...textFormats, 'mini'] as const;
  const upstreams = names.map((name) => {
    const format = name === 'mini' ? 'chat' : name;
    return `  up-${name}: { vendor: ${vendorOf[format]}, format: ${format}, base_url: "${url}/v1", api_keys: [key-of-${name}] }`;
  });
  const failing = failingModels.map((status) => `fails-${status}`);
  for (const name of failing)
    upstreams.push(`  up-${name}: { vendor: openai, format: chat, base_url: "${url}/v1", api_keys: [${name}] }`);
  const limits = 'max_input_tokens: 200000, max_tokens: 32000';
  const models = names.map((name) => `  over-${name}: { ${limits}, routes: [up-${name}/there] }`);
  for (const name of failing)
    if (!removed.endsWith(name)) models.push(`  ${name}: { ${limits}, routes: [up-${name}/there] }`);
  return `service: { base_url: "${baseUrl}" }
${callYaml(upstreams, models)}`;
}
