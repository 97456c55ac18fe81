import { Readable } from 'node:stream';
import { text as textOfStream } from 'node:stream/consumers';
import { createParser } from 'eventsource-parser';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { createRequestId } from '#core/gateway/records/request-id.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { writeCallerMembers, writeRequestMembers, writeResultMembers } from '../../plugins/log/record-line.ts';
import { cacheKeyOf, conversationOf, readPrompt } from '../cache/prompt.ts';
import { system, tools, type Turn, turnOf } from '../cache/script.ts';
import { type Reading, rulesOf, VendorCache } from '../cache/vendor-cache.ts';
import type { StreamEvent, Written } from '../conformance/clients/client-format.ts';
import { clients } from '../conformance/clients/index.ts';
import { upstreams } from '../conformance/upstreams/index.ts';
import { createExchange } from '../support/exchange.ts';

/** The body of an answer. */
export type VendorAnswer = { readonly whole: JsonObject } | { readonly stream: string };

/** Conversations of customers with one model. */
export interface Talk {
  readonly model: string;
  readonly conversations: number;
  readonly turns: number;
  /** The vendor reads nothing from its cache. */
  readonly forgets?: boolean;
  /** Called before each turn of all conversations. */
  readonly before?: (turn: number) => void;
}

/** Tokens that caches of vendors read, and turns of which they had little, with and without the gateway. */
interface Shares {
  readonly input: number;
  readonly cached: number;
  readonly directInput: number;
  readonly directCached: number;
  /** Turns at another account than the turn before. */
  readonly moves: number;
  /** Turns of which less than nine tenths of the turn before was cached, without those that are so without the gateway. */
  readonly coldTurns: number;
}

/** What was seen of the conversations with a model on one day. */
export interface TalkedDay extends Shares {
  readonly day: number;
  readonly model: string;
  readonly asked: number; // turns
  readonly served: number;
  /** Accounts of vendors, by conversation, as they served its turns. */
  readonly accounts: ReadonlyMap<string, readonly string[]>;
  /** Records of the turns, without account. */
  readonly records: readonly string[];
}

interface Seen {
  readonly account: string;
  readonly reading: Reading;
}

/** Prompts as OpenAI documents that it caches them. */
const rules = rulesOf.chat;
const client = clients.chat;
/** Seconds between the conversations of one model and the next ones: all caches have forgotten them. */
const pause = 3_600;

/**
 * Plays conversations with tools, through the stages that send requests, with vendors that cache prompts; and reads the same requests into
 * the cache of one account without a gateway.
 */
export class Conversations {
  readonly days: TalkedDay[] = [];
  readonly #caches = new Map<string, VendorCache>();
  readonly #seen = new Map<string, Seen[]>();
  #turn: Turn | undefined;
  #forgets = false;
  #now = 0; // s
  #played = 0;

  /** The vendor's answer to the turn that is played; undefined for a request of another kind. */
  answer(account: string, body: JsonObject): VendorAnswer | undefined {
    if (conversationOf(readPrompt(body)) === '') return undefined;
    const cache = this.#caches.get(account) ?? new VendorCache(rules);
    this.#caches.set(account, cache);
    const reading = this.#read(account, cache, body, this.#seen);
    if (this.#turn === undefined) throw new Error('no turn is played');
    const answer = { ...this.#turn.answer, usage: { ...reading, output: 40, thinking: 0 } };
    const model = String(body['model']);
    if (body['stream'] !== true) return { whole: upstreams.chat.whole(answer, model) };
    return { stream: upstreams.chat.frame(upstreams.chat.events(answer, model)) };
  }

  /** @param time of the day, epoch ms */
  async play(pipeline: Pipeline, day: number, time: number, talk: Talk): Promise<TalkedDay> {
    const { model, conversations, turns, before } = talk;
    this.#forgets = talk.forgets === true;
    this.#now += pause;
    this.#seen.clear();
    const players = Array.from({ length: conversations }, () => new Player(this.#played++));
    const direct = new Map<string, Seen[]>();
    const cache = new VendorCache(rules);
    const records: string[] = [];
    let served = 0;
    for (let turn = 0; turn < turns; turn++) {
      before?.(turn);
      for (const player of players) {
        this.#turn = turnOf(player.number, turn);
        this.#now += this.#turn.after;
        const body = player.write(model, turn);
        this.#read('', cache, body, direct);
        const { isServed, record } = await send(pipeline, body, player, time + records.length);
        served += Number(isServed);
        records.push(record);
      }
    }
    const one: TalkedDay = {
      day,
      model,
      asked: conversations * turns,
      served,
      accounts: new Map([...this.#seen].map(([name, some]) => [name, some.map(({ account }) => account)])),
      records,
      ...sharesOf(this.#seen, direct),
    };
    this.days.push(one);
    return one;
  }

  #read(account: string, cache: VendorCache, body: JsonObject, seen: Map<string, Seen[]>): Reading {
    const prompt = readPrompt(body);
    const found = cache.read(prompt, cacheKeyOf('chat', body), this.#now);
    const reading = this.#forgets ? { ...found, cached: 0 } : found;
    const name = conversationOf(prompt);
    seen.set(name, [...(seen.get(name) ?? []), { account, reading }]);
    return reading;
  }
}

/** A client of Chat Completions in one conversation. */
class Player {
  readonly number: number;
  readonly #entries: Written[] = [];
  #calls: string[] = [];

  constructor(number: number) {
    this.number = number;
  }

  /** Every other conversation has a name. */
  write(model: string, turn: number): JsonObject {
    const { text, results, isStream } = turnOf(this.number, turn);
    for (const [at, result] of results.entries()) this.#entries.push({ ...result, id: this.#calls[at] ?? result.id });
    if (text !== undefined) this.#entries.push({ type: 'text', by: 'user', text });
    const body = client.write({ system, tools, entries: [...this.#entries] }, { model: `dp/${model}`, isStream });
    return this.number % 2 === 0 ? { ...body, prompt_cache_key: `conversation ${this.number}` } : body;
  }

  read(whole: JsonObject): void {
    this.#calls = client.read(whole).calls.map(({ id }) => id);
    this.#entries.push({ type: 'echo', raw: client.echo(whole, true) });
  }
}

async function send(pipeline: Pipeline, body: JsonObject, player: Player, time: number) {
  const exchange = createExchange({ body, id: createRequestId(time) });
  pipeline.start(exchange);
  const reply = await pipeline.answer(exchange);
  const text = reply.body instanceof Readable ? await textOfStream(reply.body) : String(reply.body);
  const outcome: Outcome = {
    kind: 'answered',
    status: reply.status,
    error: undefined,
    bytesSent: text.length,
    duration: exchange.elapsed,
    firstByteAfter: undefined,
  };
  await pipeline.finish(exchange, outcome);
  const isServed = reply.status === 200;
  if (isServed) player.read(body['stream'] === true ? fold(text) : (JSON.parse(text) as JsonObject));
  return { isServed, record: recordOf(exchange, outcome, time) };
}

function fold(stream: string): JsonObject {
  const events: StreamEvent[] = [];
  createParser({ onEvent: ({ event, data }) => events.push({ name: event, data }) }).feed(stream);
  return client.fold(events);
}

/** As the journal has it, at the time of the month. */
function recordOf(exchange: Exchange, outcome: Outcome, time: number): string {
  const members = writeRequestMembers(exchange) + writeCallerMembers(exchange) + writeResultMembers(exchange, outcome);
  return JSON.stringify({ ...(JSON.parse(`{${members}}`) as JsonObject), started_at: time });
}

function sharesOf(through: ReadonlyMap<string, readonly Seen[]>, direct: ReadonlyMap<string, readonly Seen[]>): Shares {
  const [seen, own] = [[...through.values()].flat(), [...direct.values()].flat()];
  const sum = (some: readonly Seen[], name: keyof Reading) => some.reduce((all, { reading }) => all + reading[name], 0);
  return {
    input: sum(seen, 'input'),
    cached: sum(seen, 'cached'),
    directInput: sum(own, 'input'),
    directCached: sum(own, 'cached'),
    moves: movesOf([...through.values()].map((some) => some.map(({ account }) => account))),
    coldTurns: countCold(through) - countCold(direct),
  };
}

/** Changes of the account. @param accounts by conversation */
function movesOf(accounts: Iterable<readonly string[]>): number {
  return [...accounts].flatMap((some) => some.filter((account, index) => account !== (some[index - 1] ?? account)))
    .length;
}

function countCold(conversations: ReadonlyMap<string, readonly Seen[]>): number {
  const isCold = ({ reading }: Seen, before: Seen | undefined) =>
    before !== undefined && reading.cached < before.reading.input * 0.9;
  return [...conversations.values()].flatMap((some) => some.filter((one, index) => isCold(one, some[index - 1])))
    .length;
}

/** Shares of the input that caches read. */
export function shareOfDays(days: readonly TalkedDay[]): { readonly through: number; readonly direct: number } {
  const sum = (name: keyof Shares) => days.reduce((all, one) => all + one[name], 0);
  return { through: sum('cached') / sum('input'), direct: sum('directCached') / sum('directInput') };
}
