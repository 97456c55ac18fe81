import type { Host } from '#core/gateway/host/host.ts';
import { getKeyClosures } from '#core/gateway/model-call/key-closures.ts';
import { buildPipeline } from '#core/gateway/pipeline/build.ts';
import type { AnyStageDefinition } from '#core/gateway/pipeline/stage.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { ClosedKeyKeeper } from '../../plugins/closed-keys/keeper.ts';
import { answerAbly } from '../support/able-model.ts';
import {
  createUpstream,
  type FaultyUpstream,
  type Handler,
  type RecordedRequest,
  type ScriptedResponse,
} from '../support/faulty-upstream.ts';
import { Conversations, shareOfDays, type Talk, type TalkedDay, type VendorAnswer } from './conversations.ts';

/** What is used in a day of what is left at the vendor that runs dry. */
const usedPerDay = 10;
/** Keys of the vendor that closes an account. */
const keys = { closed: 'key-of-a-closed-account', other: 'key-of-another-account' };
const dayMs = 86_400_000;
/** Points of cached share that the gateway may lose on a healthy vendor. */
const margin = 0.02;

/** Points by which a share falls before operators get an alert, and the calls and input tokens of both times. */
const fall = { points: 0.15, calls: 200, tokens: 2_000_000, days: 7 };

const hourMs = 3_600_000;

/**
 * What happens to vendors: the type of the alert about it, and the least time from the alert to the first call that meets the trouble, ms. A
 * lost cache shows only in calls: the alert comes with the report of the same morning.
 */
const troubles = {
  'runs dry': { type: 'balance.low', lead: 12 * hourMs },
  'closes an account': { type: 'key.closed', lead: 0 },
  'retires a model': { type: 'model.retiring', lead: 12 * hourMs },
  'loses its cache': { type: 'cached_input.fell', lead: -hourMs },
} as const;
type Trouble = keyof typeof troubles;

export interface Notice {
  readonly trouble: Trouble;
  /** Of the alert. */
  readonly type: string;
  /** Ms from the first alert to the first call that met the trouble; undefined without either. */
  readonly lead: number | undefined;
  readonly isInTime: boolean;
}

/** Upstreams and models of gateway.yaml. */
export function vendorsYaml(url: string): {
  readonly upstreams: readonly string[];
  readonly models: readonly string[];
} {
  const capabilities = 'capabilities: { images: false, reasoning: false }';
  return {
    upstreams: [
      `  dry: { vendor: deepseek, format: [chat, rerank], base_url: "${url}/v1", api_keys: [key-of-a-dry-account] }`,
      `  closing: { vendor: zhipu, format: [chat, rerank], base_url: "${url}/v4", api_keys: [${keys.closed}, ${keys.other}] }`,
      `  retiring: { vendor: openai, format: [chat, rerank], base_url: "${url}/retiring/v1", api_keys: [key] }`,
      `  kept: { vendor: openai, format: [chat, rerank], base_url: "${url}/kept/v1", api_keys: [key-1, key-2] }`,
      `  equal: { vendor: openai, format: [chat, rerank], base_url: "${url}/equal/v1", api_keys: [key-1, key-2] }`,
      `  forgetful: { vendor: openai, format: [chat, rerank], base_url: "${url}/forgetful/v1", api_keys: [key] }`,
    ],
    models: [
      `dry: { routes: [dry/ranker] }`,
      `drying: { routes: [dry/talk, kept/talk], ${capabilities} }`,
      `closing: { routes: [closing/glm], ${capabilities} }`,
      `retiring: { routes: [retiring/ranker-1] }`,
      `ending: { routes: [retiring/talk-1, kept/talk], ${capabilities} }`,
      `kept: { routes: [{ to: kept/talk, priority: 0 }, { to: equal/talk, priority: 0 }], ${capabilities} }`,
      `forgetful: { routes: [forgetful/talk], ${capabilities} }`,
    ],
  };
}

/**
 * Vendors that can be seen to fail before customers notice: one runs dry, one closes an account, one retires a model, and one quietly loses
 * its prompt cache. Another one is healthy.
 */
export class MonthVendors implements AsyncDisposable {
  readonly #conversations = new Conversations();
  readonly #length: number; // days
  readonly #begin: number; // epoch ms
  /** Requests for which the closed account was asked, by day. */
  readonly #closedAsked: number[] = [];
  /** Times of the first calls that met a trouble, epoch ms. */
  readonly #met = new Map<Trouble, number>();
  #clock: () => number = () => this.#begin;
  #today = 0;
  #isClosed = false;
  #isDry = false;
  #isRetired = false;
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

  /** First day (UTC) without the models: the last of the month. Conversations lose theirs within the hour before it. */
  get endsOn(): string {
    return new Date(this.#begin + (this.#length - 1) * dayMs + dayMs / 2).toISOString().slice(0, 10);
  }

  /** The day, from 0, on which the account is closed. */
  get closesOn(): number {
    return Math.floor(this.#length / 2);
  }

  /** The day from which on a vendor answers as before, and reads nothing from its cache. */
  get forgetsFrom(): number {
    return Math.floor((this.#length * 2) / 3);
  }

  /** Requests of customers, on all days. */
  get talked(): readonly TalkedDay[] {
    return this.#conversations.days;
  }

  /** A day of the vendors, with customers' conversations and the product's look-ups. @returns records of the requests */
  async live(
    today: number,
    host: Host,
    stages: ReadonlyMap<string, AnyStageDefinition>,
    runJob: (name: string) => Promise<void>,
  ): Promise<string[]> {
    this.#today = today;
    this.#clock = host.now;
    if (today >= this.forgetsFrom) this.#meet('loses its cache');
    this.#closedAsked.push(0);
    // What a running instance does when it is notified, and when the time of a try has come.
    const keeper = new ClosedKeyKeeper(host);
    getKeyClosures(host).store = keeper;
    await keeper.read();
    await runJob('read-balances');
    await runJob('read-model-lists');
    const pipeline = await buildPipeline(sendingStages(host, stages), host);
    const records: string[] = [];
    for (const talk of this.#talks()) {
      const time = host.now() - 60_000 + records.length;
      records.push(...(await this.#conversations.play(pipeline, today, time, talk)).records);
    }
    await pipeline.retire();
    await recorded(host);
    return records;
  }

  /** What fails does so in the midst of conversations. */
  #talks(): Talk[] {
    const isLast = this.#today === this.#length - 1;
    const forgets = this.#today >= this.forgetsFrom;
    const half = 4;
    return [
      { model: 'kept', conversations: 2, turns: 38 },
      // A fall is found where there are enough calls on both sides of it.
      { model: 'forgetful', conversations: forgets ? 6 : 3, turns: 38, forgets },
      {
        model: 'closing',
        conversations: 6,
        turns: 2 * half,
        before: onTurn(half, this.#today === this.closesOn, () => (this.#isClosed = true)),
      },
      { model: 'drying', conversations: 2, turns: 2 * half, before: onTurn(half, isLast, () => (this.#isDry = true)) },
      {
        model: 'ending',
        conversations: 2,
        turns: 2 * half,
        before: onTurn(half, isLast, () => (this.#isRetired = true)),
      },
    ];
  }

  /** What the operator's webhook has to get today. @param passes accounts with paid time */
  alertsOf(today: number, passes: number): string[] {
    const left = this.#length - today;
    const soon = (at: number) => Date.parse(this.endsOn) - at <= 7 * dayMs;
    const morning = this.#begin + today * dayMs + 6.5 * hourMs;
    const isFirst = today === 0;
    const isLast = soon(Date.parse(dayOf(morning))) && (isFirst || !soon(Date.parse(dayOf(morning - dayMs))));
    const retired = ['ranker', 'talk'].map(
      (model) => `model.retiring retiring/${model}-1 ending ${this.endsOn} ${model}-2`,
    );
    return [
      ...(today > 0 && left <= 3 ? [`balance.low dry ${left} ${passes} dp/dry`] : []),
      ...(today === this.closesOn ? ['key.closed closing account'] : []),
      ...(isFirst || isLast ? retired : []),
      ...(this.#hasFallen(today) ? ['cached_input.fell route forgetful/talk'] : []),
    ];
  }

  #meet(trouble: Trouble): void {
    if (!this.#met.has(trouble)) this.#met.set(trouble, this.#clock());
  }

  /**
   * Compares the first alert about each trouble with the first call that met it. Without the gateway, customers would notice the trouble with
   * that call, and a lost cache only by slower first tokens.
   *
   * @param alerts to the operator's webhook
   */
  notices(alerts: readonly JsonObject[]): Notice[] {
    return (Object.keys(troubles) as Trouble[]).map((trouble) => {
      const { type, lead: least } = troubles[trouble];
      const alert = alerts.find((one) => one['type'] === type);
      const met = this.#met.get(trouble);
      const lead = alert && met && met - Date.parse(String(alert['created_at']));
      return { trouble, type, lead, isInTime: lead !== undefined && lead >= least };
    });
  }

  /** By what the vendor itself has counted. */
  #hasFallen(today: number): boolean {
    const own = this.talked.filter(({ model }) => model === 'forgetful');
    const week = own.filter(({ day }) => day < today && day >= today - fall.days);
    const now = own.filter(({ day }) => day === today);
    const isEnough = (days: readonly TalkedDay[]) =>
      sumOf(days, ({ served }) => served) >= fall.calls && sumOf(days, ({ input }) => input) >= fall.tokens;
    if (!isEnough(week) || !isEnough(now)) return false;
    return shareOfDays(week).through - shareOfDays(now).through >= fall.points;
  }

  /** What was seen of each day, and what has to be. */
  compare(): { readonly seen: string[]; readonly expected: string[] } {
    const seen = this.talked.map((one) => {
      const { day, model, asked, served, moves, coldTurns } = one;
      const { through, direct } = shareOfDays([one]);
      const isKept = direct - through <= margin;
      const closedAsked = model === 'closing' && (this.#closedAsked[day] ?? 0) > 1;
      return [
        `${day} ${model}: ${asked - served} of ${asked} not served`,
        `${moves} moves with ${coldTurns} cold turns`,
        ...(moves === 0 && !isKept ? [`a cached share of ${percent(through)} for ${percent(direct)}`] : []),
        ...(closedAsked ? [`the closed account asked ${this.#closedAsked[day]} times`] : []),
      ].join(', ');
    });
    const expected = this.talked.map((one) => {
      const moves = this.#forcedMoves(one);
      return `${one.day} ${one.model}: 0 of ${one.asked} not served, ${moves} moves with ${moves} cold turns`;
    });
    return { seen, expected };
  }

  /** Conversations that cannot stay where they are. */
  #forcedMoves({ day, model, accounts }: TalkedDay): number {
    if (model === 'closing' && day === this.closesOn)
      return [...accounts.values()].filter(([first]) => first === `closing ${keys.closed}`).length;
    return (model === 'drying' || model === 'ending') && day === this.#length - 1 ? accounts.size : 0;
  }

  /** Describes in a line the cached share on healthy vendors, and the cost of forced changes. */
  summary(): string {
    const { through, direct } = shareOfDays(this.talked.filter(({ model }) => model === 'kept'));
    const unserved = sumOf(this.talked, ({ asked, served }) => asked - served);
    const forced = sumOf(this.talked, (one) => this.#forcedMoves(one));
    const coldTurns = sumOf(this.talked, (one) => one.coldTurns);
    return `${percent(through)} cached, direct ${percent(direct)}, ${forced} forced changes, ${coldTurns} cold turns, ${unserved} calls not served`;
  }

  /** Cached shares by model, and the price of forced changes. */
  describe(): string[] {
    const isAfter = ({ day, model }: TalkedDay) => model === 'forgetful' && day >= this.forgetsFrom;
    const groups = Map.groupBy(this.talked, (one) => `${one.model}${isAfter(one) ? ', its cache lost' : ''}`);
    return [...groups].map(([name, days]) => {
      const { through, direct } = shareOfDays(days);
      const calls = `${sumOf(days, ({ served }) => served)} of ${sumOf(days, ({ asked }) => asked)} calls served`;
      const forced = sumOf(days, (one) => this.#forcedMoves(one));
      const moved = `${sumOf(days, ({ moves }) => moves)} moves, ${sumOf(days, ({ coldTurns }) => coldTurns)} cold turns`;
      const changes = `${forced} forced changes, ${moved}`;
      return `${name.padEnd(28)} ${percent(through)} cached, ${percent(direct)} without a gateway; ${calls}; ${changes}`;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#upstream[Symbol.asyncDispose]();
  }

  readonly #answer: Handler = (request, response) => {
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
          { id: 'talk-1', created: 1, shutdown_date: this.endsOn },
          { id: 'talk-2', created: 2, shutdown_date: null },
        ],
      });
    if (request.method === 'GET') return response.json(404, {});
    return this.#talk(request, response);
  };

  #talk(request: RecordedRequest, response: ScriptedResponse): void | Promise<void> {
    const key = String(request.headers.authorization).replace('Bearer ', '');
    const upstream = upstreamOf(request.path);
    if (upstream === 'closing' && key === keys.closed && this.#isClosed) {
      this.#closedAsked[this.#today] = (this.#closedAsked[this.#today] ?? 0) + 1;
      this.#meet('closes an account');
      return response.json(429, { error: { code: '1112', message: 'Your account has been locked' } });
    }
    if (upstream === 'dry' && this.#isDry) {
      this.#meet('runs dry');
      return response.json(402, { error: { message: 'Insufficient Balance', code: 'invalid_request_error' } });
    }
    if (upstream === 'retiring' && this.#isRetired) {
      this.#meet('retires a model');
      return response.json(404, { error: { message: 'The model has been shut down', code: 'model_not_found' } });
    }
    const body = request.json<JsonObject>();
    const answer = this.#conversations.answer(`${upstream} ${key}`, body) ?? answerProbe(body);
    return 'whole' in answer
      ? response.json(200, answer.whole)
      : response.send(200, { 'content-type': 'text/event-stream' }, answer.stream);
  }
}

/** The stages that send requests, as gateway.yaml sets them. */
function sendingStages(host: Host, stages: ReadonlyMap<string, AnyStageDefinition>) {
  return host.stages.flatMap(({ definition: { name }, options }) => {
    const definition = name === 'format' || name === 'upstream' ? stages.get(name) : undefined;
    return definition === undefined ? [] : [{ definition, options }];
  });
}

/** What belongs to no conversation. */
function answerProbe(body: JsonObject): VendorAnswer {
  const answer = answerAbly(body);
  if (body['stream'] !== true) return { whole: answer.whole() };
  const data = answer.chunks().map((chunk) => (typeof chunk === 'string' ? chunk : JSON.stringify(chunk)));
  return { stream: data.map((line) => `data: ${line}\n\n`).join('') };
}

function upstreamOf(path: string): string {
  if (path.startsWith('/v1/')) return 'dry';
  return path.startsWith('/v4/') ? 'closing' : (path.split('/')[1] ?? '');
}

function onTurn(turn: number, isToday: boolean, act: () => void): (now: number) => void {
  return (now) => {
    if (isToday && now === turn) act();
  };
}

function sumOf(days: readonly TalkedDay[], of: (day: TalkedDay) => number): number {
  return days.reduce((all, one) => all + of(one), 0);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Waits until closures of this moment are on record: they are written in the background. */
async function recorded(host: Host): Promise<void> {
  for (const closure of getKeyClosures(host).all())
    while (closure.until > host.monotonic()) {
      const [row] = await host.database.query(
        'select 1 from closed_key where digest = ? and retry_at > clock_timestamp()',
        [closure.id],
      );
      if (row !== undefined) break;
    }
}
