import { randomUUID } from 'node:crypto';
import { buildPipeline } from '#core/gateway/pipeline/build.ts';
import { keyClosures } from '#core/gateway/model-call/key-closures.ts';
import type { AnyStageDefinition } from '#core/gateway/pipeline/stage.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { ClosedKeyKeeper } from '../../plugins/closed-keys/keeper.ts';
import { answerAbly } from '../support/able-model.ts';
import { createExchange } from '../support/exchange.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../support/faulty-upstream.ts';
import type { JsonObject } from '#core/platform/json.ts';

/** What is used in a day of what is left at the vendor that runs dry. */
const usedPerDay = 10;
/** Keys of the vendor that closes an account. */
const keys = { closed: 'key-of-a-closed-account', other: 'key-of-another-account' };
/** Customers' requests to that vendor in a day, each in a conversation of its own: so many that each key has some. */
const requestsPerDay = 16;
const dayMs = 86_400_000;

/** Upstreams and models of gateway.yaml. Their models are of a kind that no probe tries. */
export function vendorsYaml(url: string): {
  readonly upstreams: readonly string[];
  readonly models: readonly string[];
} {
  return {
    upstreams: [
      `  dry: { vendor: deepseek, format: [rerank], base_url: "${url}/v1", api_keys: [key-of-a-dry-account] }`,
      `  closing: { vendor: zhipu, format: [chat, rerank], base_url: "${url}/v4", api_keys: [${keys.closed}, ${keys.other}] }`,
      `  retiring: { vendor: openai, format: [rerank], base_url: "${url}/retiring/v1", api_keys: [key] }`,
    ],
    models: [
      `dry: { routes: [dry/ranker] }`,
      `closing: { routes: [closing/glm], capabilities: { images: false, reasoning: false } }`,
      `retiring: { routes: [retiring/ranker-1] }`,
    ],
  };
}

/** Seen of one day. */
interface SeenDay {
  /** Requests of customers that were served. */
  readonly served: number;
  /** Those for which the closed account was asked. */
  readonly closedAsked: number;
}

/** Three vendors that can be seen to fail before they do: one runs dry, one closes an account, one retires a model. */
export class MonthVendors implements AsyncDisposable {
  readonly days: SeenDay[] = [];
  readonly #length: number; // days
  readonly #begin: number; // epoch ms
  #today = 0;
  #closedAsked = 0;
  #upstream: FaultyUpstream = undefined as never;

  /** @param begin of the month, epoch ms */
  private constructor(length: number, begin: number) {
    this.#length = length;
    this.#begin = begin;
  }

  static async open(length: number, begin: number): Promise<MonthVendors> {
    const vendors = new MonthVendors(length, begin);
    vendors.#upstream = await createUpstream(vendors.#answer, { keeps: false, seesBalances: true });
    return vendors;
  }

  get url(): string {
    return this.#upstream.url;
  }

  /** First day (UTC) without the model: the last of the month. */
  get endsOn(): string {
    return new Date(this.#begin + (this.#length - 1) * dayMs + dayMs / 2).toISOString().slice(0, 10);
  }

  /** The day, from 0, on which the account is closed. */
  get closesOn(): number {
    return Math.floor(this.#length / 2);
  }

  /** A day of the vendors, with some requests of customers and the product's look-ups. */
  async live(
    today: number,
    host: Host,
    stages: ReadonlyMap<string, AnyStageDefinition>,
    runJob: (name: string) => Promise<void>,
  ) {
    this.#today = today;
    this.#closedAsked = 0;
    // What a running instance does when it is notified, and when the time of a try has come.
    const keeper = new ClosedKeyKeeper(host);
    keyClosures(host).keeper = keeper;
    await keeper.read();
    let served = 0;
    for (let request = 0; request < requestsPerDay; request++) served += Number(await this.#ask(host, stages));
    await recorded(host);
    this.days.push({ served, closedAsked: this.#closedAsked });
    await runJob('read-balances');
    await runJob('read-model-lists');
  }

  /** What the operator's webhook has to get today. @param passes accounts with paid time */
  alertsOf(today: number, passes: number): string[] {
    const left = this.#length - today;
    const soon = (at: number) => Date.parse(this.endsOn) - at <= 7 * dayMs;
    const morning = this.#begin + today * dayMs + 6.5 * 3_600_000;
    const isFirst = today === 0;
    const isLast = soon(Date.parse(dayOf(morning))) && (isFirst || !soon(Date.parse(dayOf(morning - dayMs))));
    return [
      ...(today > 0 && left <= 3 ? [`balance.low dry ${left} ${passes} dp/dry`] : []),
      ...(today === this.closesOn ? ['key.closed closing account'] : []),
      ...(isFirst || isLast ? [`model.retiring retiring/ranker-1 ending ${this.endsOn} ranker-2`] : []),
    ];
  }

  /** What was seen, and what has to be: every request served, and the closed account asked once a day at most. */
  compare(): { readonly seen: string[]; readonly expected: string[] } {
    const seen = this.days.map(({ served, closedAsked }, day) => {
      const asked = day < this.closesOn || closedAsked <= 1 ? '' : `, the closed account asked ${closedAsked} times`;
      return `${day} served ${served}${asked}`;
    });
    const expected = this.days.map((_one, day) => `${day} served ${requestsPerDay}`);
    return { seen, expected };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstream[Symbol.asyncDispose]();
  }

  readonly #answer: Handler = (request, response) => {
    const isClosedKey = request.headers.authorization === `Bearer ${keys.closed}`;
    if (request.path === '/user/balance')
      return response.json(200, {
        is_available: true,
        balance_infos: [{ currency: 'USD', total_balance: String(usedPerDay * (this.#length - this.#today)) }],
      });
    if (request.path === '/retiring/v1/models')
      return response.json(200, {
        data: [
          { id: 'ranker-1', created: 1, shutdown_date: this.endsOn },
          { id: 'ranker-2', created: 2, shutdown_date: null },
        ],
      });
    if (request.method === 'GET') return response.json(404, {});
    if (isClosedKey) this.#closedAsked++;
    if (isClosedKey && this.#today >= this.closesOn)
      return response.json(429, { error: { code: '1112', message: 'Your account has been locked' } });
    return response.json(200, answerAbly(request.json<JsonObject>()).whole());
  };

  /** A customer's request, through the stages that send it. @returns true if it was served */
  async #ask(host: Host, stages: ReadonlyMap<string, AnyStageDefinition>): Promise<boolean> {
    const sending = host.stages.flatMap(({ definition: { name }, options }) => {
      const definition = name === 'format' || name === 'upstream' ? stages.get(name) : undefined;
      return definition === undefined ? [] : [{ definition, options }];
    });
    const pipeline = await buildPipeline(sending, host);
    const exchange = createExchange({
      body: { model: 'closing', messages: [{ role: 'user', content: randomUUID() }] },
    });
    pipeline.begin(exchange);
    const { status } = await pipeline.answer(exchange);
    await pipeline.finish(exchange, {
      kind: 'answered',
      status,
      error: undefined,
      bytesSent: 0,
      duration: exchange.elapsed,
      firstByteAfter: undefined,
    });
    await pipeline.retire();
    return status === 200;
  }
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Waits until closures of this moment are on record: they are written in the background. */
async function recorded(host: Host): Promise<void> {
  for (const closure of keyClosures(host).all())
    while (closure.until > host.monotonic()) {
      const [row] = await host.database.query(
        'select 1 from closed_key where digest = ? and retry_at > clock_timestamp()',
        [closure.id],
      );
      if (row !== undefined) break;
    }
}
