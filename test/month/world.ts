import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { getCommandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import type { ActionDetails } from '#core/business/operator-actions/operator-actions.ts';
import { receiveNotification } from '#core/business/payments/inbox.ts';
import { type GatewayDocument, readDocument } from '#core/config/file/document.ts';
import { EffectiveDocuments } from '#core/config/history/effective-document.ts';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import { assemble } from '#core/extension/assembly.ts';
import type { UsageFiguresReader } from '#core/extension/commands/usage-figures.ts';
import type { Registry } from '#core/extension/registry.ts';
import { getConfigLoadState } from '#core/extension/validation/load-state.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import type { VariantRun, Variants } from '#core/extension/variants.ts';
import { createHost, type Host, type Services } from '#core/gateway/host/host.ts';
import type { Serving, Variant } from '#core/gateway/http/open-exchange.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { OpenServices } from '#core/process/services.ts';
import { Canaries } from '../../plugins/canary/record/canaries.ts';
import { servesAccount } from '../../plugins/canary/run/share.ts';
import { insertAccounts } from '../payments/gateways.ts';
import { answerAbly } from '../support/able-model.ts';
import { createUpstream, type FaultyUpstream } from '../support/faulty-upstream.ts';
import { execute } from '../support/global-postgres.ts';
import { MonthBank } from './bank.ts';
import { MonthVendors, vendorsYaml } from './vendors.ts';

export const begin = '2026-11-01T00:00:00+07:00';

/** Rupiah for a million tokens of each route. */
export const costs = { 'steady/main': { input: 1_000, output: 4_000 }, 'weak/main': { input: 350, output: 1_250 } };

/** Day from which prices contain tax: before it, the shop is one without. */
export const taxedFrom = '2026-11-03';

export interface ShopTerms {
  readonly prices: ReadonlyMap<number, number>;
  readonly maxActive: number;
}

function yamlOf(
  { prices, maxActive }: ShopTerms,
  upstreams: Readonly<Record<string, string>>,
  webhook: string,
  vendors: string,
): string {
  const plans = [...prices].map(([days, price]) => `  - { days: ${days}, price: ${price} }`);
  const routes = Object.entries(upstreams).map(
    ([name, url]) =>
      `  ${name}: { format: [chat], base_url: "${url}", cost: ${JSON.stringify(costs[`${name}/main` as keyof typeof costs])} }`,
  );
  const others = vendorsYaml(vendors);
  return `
service: { name: Daypass, prefix: dp, base_url: "https://daypass.example", time_zone: Asia/Jakarta }
pipeline: [auth, plan, rate-limit: { limit: 100, period: 60, burst: 100 }, format, upstream, log]
upstreams:
${[...routes, ...others.upstreams].join('\n')}
models:
  main: { routes: [steady/main, weak/main], capabilities: { images: false, reasoning: false } }
${others.models.map((model) => `  ${model}`).join('\n')}
plans:
${plans.join('\n')}
currency: IDR
payments: { provider: bank, gifts: true, order_minutes: 30, max_open_orders: 1000, max_charges_per_hour: 100000, max_charges_per_hour_and_address: 100000 }
seller: { name: Toko Bulan, address: Jakarta, tax: [{ name: PPN, rate: 12, base: 11/12, from: ${taxedFrom} }] }
sales: { max_active: ${maxActive}, reserve_minutes: 1440 }
outages: { credit: true, from_minutes: 5 }
alerts: { webhook: { url: "${webhook}", secret: "a secret of the month, long enough" }, digest_hour: 7 }
probes: { enabled: true, every_hours: 24, daily_tokens: 1000000, context_every_days: 0 }
`;
}

/** What the month does in other ways. */
const unasked = () => Promise.reject(new Error('nothing of the month asks for it'));

interface SeenSide {
  readonly accounts: number;
  readonly requests: number;
  readonly failures: number;
}

/** What is read of a canary. */
export interface SeenCanary {
  readonly counts: { readonly canary: SeenSide; readonly others: SeenSide } | null;
  readonly end: { readonly outcome: string; readonly reason: string } | null;
}

/**
 * The product, as a command runs it: all plugins on a real PostgreSQL, without listening, and with a clock that only `setTime` moves.
 * Jobs run when they are told to. The bank and the vendors are this file's.
 */
export class World implements AsyncDisposable {
  vendors: MonthVendors = undefined as never;
  readonly bank = new MonthBank('bank', () => this.#now);
  host: Host = undefined as never;
  accounts: readonly string[] = [];
  /** What the operator's webhook got. */
  readonly alerts: JsonObject[] = [];
  /** Undefined while everybody is served the same. */
  canary: Variant | undefined;
  /** Seen by the vendor behind `weak`: another model answers. */
  isWeak = false;
  readonly #stack = new AsyncDisposableStack();
  #folder = '';
  #registry: Registry = undefined as never;
  #services: Services = undefined as never;
  #documents: EffectiveDocuments = undefined as never;
  #upstreams: Record<string, string> = {};
  #webhook = '';
  #served: { readonly digest: string } | undefined;
  #variants: Variants | undefined;
  #canaryRun: VariantRun | undefined;
  #now = 0; // ms

  static async open(
    url: string,
    { accounts, days }: { readonly accounts: number; readonly days: number },
    terms: ShopTerms,
  ): Promise<World> {
    const world = new World();
    world.vendors = world.#stack.use(await MonthVendors.open(days, Date.parse(begin)));
    await world.#open(url, accounts, terms);
    return world;
  }

  /** What `daypass usage` adds to counts. */
  get figures(): UsageFiguresReader {
    const { costsReader } = this.#registry;
    if (costsReader === undefined) throw new Error('no plugin knows what use has cost');
    return costsReader.usage;
  }

  get #file(): string {
    return join(this.#folder, 'gateway.yaml');
  }

  async #open(url: string, accounts: number, terms: ShopTerms): Promise<void> {
    this.#folder = await mkdtemp(join(tmpdir(), 'daypass-month-'));
    this.#stack.defer(() => rm(this.#folder, { recursive: true, force: true }));
    for (const name of ['steady', 'weak']) this.#upstreams[name] = await this.#vendor(name);
    this.#webhook = await this.#receiver();
    await writeFile(this.#file, this.#yaml(terms));
    const environment = { DATABASE_URL: url };
    const document = await readDocument(this.#file, environment);
    const log = { info: () => undefined, warn: () => undefined, error: console.error };
    const { registry } = await assemble(document, log, () => this.host);
    this.#registry = registry;
    registry.paymentProviders.set(this.bank.name, this.bank.provider);
    const open = await OpenServices.open({
      dataFolder: this.#folder,
      environment,
      log,
      registry,
      mode: 'command',
      host: () => this.host,
    });
    this.#stack.use(open);
    const jobs: Services['jobs'] = { ...open.services.jobs, add: () => Promise.resolve() };
    const start = Date.parse(begin);
    this.#services = {
      ...open.services,
      jobs,
      now: () => this.#now,
      // Jumps with the time of the month, and runs on in between.
      monotonic: () => performance.now() + Math.max(0, this.#now - start),
    };
    const { database } = this.#services;
    await database.query('create table request_log_month partition of request_log default');
    this.#documents = new EffectiveDocuments(database, registry, { environment, log });
    await this.#serve(document);
    this.accounts = await insertAccounts(database, accounts);
    await this.vacuum();
  }

  /** A vendor over HTTP: an able model's answers, or for `weak` those of another model. */
  async #vendor(name: string): Promise<string> {
    const upstream: FaultyUpstream = await createUpstream(
      (request, response) => {
        if (request.method === 'GET') return response.json(200, { data: [{ id: 'main' }] });
        const chat = answerAbly(request.json<JsonObject>());
        const isOther = name === 'weak' && this.isWeak;
        if (request.json<JsonObject>()['stream'] === true && !isOther) {
          response.sse();
          for (const data of chat.chunks()) void response.event(data);
          return response.end();
        }
        const answer = chat.whole();
        if (isOther) speakAsAnother(answer);
        return response.json(200, answer);
      },
      { keeps: false },
    );
    this.#stack.use(upstream);
    return `${upstream.url}/v1`;
  }

  /** The operator's, which keeps what it gets. */
  async #receiver(): Promise<string> {
    const receiver = await createUpstream(
      (request, response) => {
        this.alerts.push(request.json<JsonObject>());
        return response.json(200, {});
      },
      { keeps: false },
    );
    this.#stack.use(receiver);
    return `${receiver.url}/alerts`;
  }

  #yaml(terms: ShopTerms, upstreams = this.#upstreams): string {
    return yamlOf(terms, upstreams, this.#webhook, this.vendors.url);
  }

  /**
   * A file that names another vendor is tried, as over the operator's API.
   *
   * @param accountIds of which some are on each side: with few accounts, chance alone may leave a side empty
   */
  async beginCanary(terms: ShopTerms, share: number, accountIds: readonly string[]): Promise<void> {
    const { createSalt } = Canaries.prototype;
    Canaries.prototype.createSalt = () => saltThatDivides(accountIds, share, createSalt);
    try {
      await this.#begin(terms, share);
    } finally {
      Canaries.prototype.createSalt = createSalt;
    }
  }

  async #begin(terms: ShopTerms, share: number): Promise<void> {
    const name = 'next.yaml';
    await writeFile(join(this.#folder, name), this.#yaml(terms, { ...this.#upstreams, weak: 'http://127.0.0.1:9/v1' }));
    const stages = { pipeline: { retire: () => Promise.resolve() } } as unknown as Serving;
    this.#variants = await this.#registry.variantSource?.load();
    this.#canaryRun = this.#variants?.follow({
      host: () => this.host,
      documents: this.#documents,
      serve: (variant) => void (this.canary = variant),
      prepare: () => Promise.resolve(stages),
    });
    getConfigLoadState(this.host).changes = {
      documents: this.#documents,
      read: (file = 'gateway.yaml') => readDocument(join(this.#folder, file), {}),
      follow: () => this.#followCanary(),
      serving: () => undefined,
      rollBack: unasked,
      release: unasked,
    };
    const operator = { id: randomUUID(), name: 'month' };
    const action = this.#registry.actions.get('configuration.canary_begin');
    await action?.perform(this.host, 'configuration', { file: name, share: `${share * 100}%` }, operator);
  }

  /** What the timer of a running gateway does. @returns the canary afterwards, as the operator's API has it */
  async judgeCanary(): Promise<SeenCanary> {
    await this.#canaryRun?.evaluate();
    await this.#followCanary();
    const last = await this.#variants?.read(this.host);
    if (last === undefined || last === null) throw new Error('there is no canary');
    return last as SeenCanary;
  }

  async #followCanary(): Promise<void> {
    const digest = this.#served?.digest;
    await this.#canaryRun?.follow({ serving: this as unknown as Serving, digest, fileDigest: digest ?? '' });
    // Only `judgeCanary` judges.
    this.#canaryRun?.close();
  }

  /** @param at µs since the epoch */
  async setTime(at: bigint): Promise<void> {
    this.#now = Number(at / 1_000n);
    await this.#services.database.query(
      `update model_clock.now set at = timestamptz 'epoch' + ?::bigint * interval '1 microsecond'`,
      [String(at)],
    );
  }

  /** A changed gateway.yaml is loaded, as the running gateway does it. */
  async change(terms: ShopTerms): Promise<void> {
    await writeFile(this.#file, this.#yaml(terms));
    await this.#serve(await readDocument(this.#file, {}));
  }

  /** `daypass rollback`, and the reload that follows it. */
  async rollback(): Promise<void> {
    const { history } = this.#documents;
    const file = await readDocument(this.#file, {});
    const target = await history.findPrevious((await history.createStoredForm(file)).digest);
    if (target === undefined) throw new Error('there is no configuration to go back to');
    const { fileDigest } = await this.#documents.parseRollbackTarget(target, file);
    await history.rollBack({ fileDigest, configurationId: target.id, operator: 'month', note: 'a bad change' });
    await this.#serve(file);
  }

  async #serve(file: GatewayDocument): Promise<void> {
    const { document, rollback, storedForm: kept } = await this.#documents.resolve(file);
    const config = validate(document, this.#registry);
    const catalog = buildCatalog(config, this.#registry.vendors, this.#registry.formats);
    this.host = createHost(this.#services, config, catalog, config.stages);
    this.#served = kept;
    if (kept !== undefined) await this.#documents.history.record(kept, rollback?.operator ?? 'file');
  }

  /** Does what autovacuum does within a day of a shop, for tables of which a tenth has changed. Its own minute is days of the month. */
  async vacuum(): Promise<void> {
    const { database } = this.host;
    const changed = await database.query<{ name: string }>(
      'select relid::regclass::text as name from pg_stat_user_tables where n_mod_since_analyze > n_live_tup / 10',
    );
    if (changed.length > 0)
      await execute(database.url, `VACUUM (ANALYZE) ${changed.map(({ name }) => name).join(', ')}`);
  }

  async runJob(name: string): Promise<void> {
    const job = this.#registry.jobs.get(name);
    if (job === undefined) throw new Error(`there is no job ${name}`);
    await job.run({}, this.host);
  }

  /** @returns records of customers' conversations */
  liveVendors(today: number): Promise<string[]> {
    return this.vendors.live(today, this.host, this.#registry.stages, (name) => this.runJob(name));
  }

  /** What the operator's API reads. */
  async read(path: string): Promise<unknown> {
    return this.#registry.operatorReadings.get(path)?.read(this.host, '', new URLSearchParams());
  }

  /** What an operator does. */
  async act(name: string, input: ActionDetails): Promise<void> {
    const action = this.#registry.actions.get(name);
    if (action === undefined) throw new Error(`there is no action ${name}`);
    await runAction(this.host, getCommandOperator(), action, '', input);
  }

  /** The bank's notice, three times at once, one of them under another name. */
  async notify(reference: string, paymentId: string): Promise<void> {
    const send = (key: string) =>
      receiveNotification(this.host, this.bank.name, {
        headers: { 'x-secret': 'right' },
        body: Buffer.from(JSON.stringify({ reference, key, paymentId })),
        query: new URLSearchParams(),
      });
    const [one, other] = [randomUUID(), randomUUID()];
    await Promise.all([send(one), send(one), send(other)]);
    for (;;) {
      const waiting = await this.host.database.query<unknown>(
        'select 1 from payment_notification where next_try_at is not null limit 1',
      );
      if (waiting.length === 0) return;
      await setTimeout(5);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** The texts of an answer become those of a weaker model of another maker. */
function speakAsAnother(answer: JsonObject): void {
  for (const choice of answer['choices'] as JsonObject[]) {
    const message = choice['message'] as JsonObject;
    if (typeof message['content'] === 'string') message['content'] = 'I am Qwen, made by Alibaba Cloud, a small model.';
  }
}

/** Accounts on each side of a canary, at least. */
const leastOnSide = 2;

function saltThatDivides(accountIds: readonly string[], share: number, createSalt: () => string): string {
  for (let tries = 0; tries < 10_000; tries++) {
    const salt = createSalt();
    const inside = accountIds.filter((id) => servesAccount({ salt, share }, id)).length;
    if (inside >= leastOnSide && accountIds.length - inside >= leastOnSide) return salt;
  }
  throw new Error(`no canary divides ${accountIds.length} accounts`);
}
