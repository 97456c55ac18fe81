import { createParser } from 'eventsource-parser';
import type { JsonObject } from '#core/platform/json.ts';
import type { StreamEvent, Written } from '../conformance/clients/client-format.ts';
import { clients } from '../conformance/clients/index.ts';
import { objectsOf } from '../conformance/conversation.ts';
import type { TextFormat } from '../support/formats.ts';
import { type CacheFixture, type Layout, modelThere, type VendorKind, vendors } from './fixture.ts';
import { firstChange } from './prompt.ts';
import { nameOf, system, tools, turnOf, turns } from './script.ts';
import { rulesOf } from './vendor-cache.ts';

export interface Cell {
  readonly client: TextFormat;
  readonly vendor: VendorKind;
  readonly layout: Layout;
  /** The client names its conversation. */
  readonly hasSession: boolean;
}

/** What came of the conversations of a cell. */
export interface Played {
  /** Cached input tokens, of all. */
  readonly share: number;
  /** Turns of which less than half of the turn before was cached. */
  readonly coldTurns: readonly string[];
  /** Bytes of the stable prefix that changed. */
  readonly changes: readonly string[];
  /** Routes and keys by conversation, in their order, each once in a row. */
  readonly places: readonly string[];
}

/** Conversations that take turns. */
const conversations = 2;

let played = 0;

interface Options {
  /** Past the gateway, with the vendor's own format. */
  readonly isDirect?: boolean;
  readonly turns?: number;
  /** Called before each turn of a conversation. */
  readonly before?: (turn: number) => void;
}

/** Plays conversations, one turn after the other. */
export async function play(fixture: CacheFixture, cell: Cell, options: Options = {}): Promise<Played> {
  fixture.reset();
  const players = Array.from({ length: conversations }, () => new Player(fixture, cell, options, played++));
  for (let turn = 0; turn < (options.turns ?? turns); turn++)
    for (const player of players) {
      options.before?.(turn);
      await player.play(turn);
    }
  return describe(fixture, cell.vendor);
}

class Player {
  readonly #fixture: CacheFixture;
  readonly #cell: Cell;
  readonly #options: Options;
  readonly #number: number;
  readonly #entries: Written[] = [];
  /** The client's ids of the calls that are open. */
  #calls: string[] = [];

  constructor(fixture: CacheFixture, cell: Cell, options: Options, number: number) {
    this.#fixture = fixture;
    this.#cell = cell;
    this.#options = options;
    this.#number = number;
  }

  async play(index: number): Promise<void> {
    const { text, results, answer, isStream, after } = turnOf(this.#number, index);
    const fixture = this.#fixture;
    fixture.now += after;
    fixture.answer = answer;
    for (const [at, result] of results.entries()) this.#entries.push({ ...result, id: this.#calls[at] ?? result.id });
    if (text !== undefined) this.#entries.push({ type: 'text', by: 'user', text });
    const whole = await this.#ask(isStream);
    const client = clients[this.#cell.client];
    this.#calls = client.read(whole).calls.map(({ id }) => id);
    this.#entries.push({ type: 'echo', raw: client.echo(whole, true) });
  }

  async #ask(isStream: boolean): Promise<JsonObject> {
    const { client: name, vendor, layout, hasSession } = this.#cell;
    const client = clients[name];
    const { isDirect = false } = this.#options;
    const { url, key, vendorUrl } = this.#fixture;
    const address = { model: isDirect ? modelThere : `dp/${layout}-${vendor}`, isStream };
    const question = { system, tools, entries: this.#entries, effort: 'high' };
    const body = { ...client.write(question, address), ...(hasSession && namedInBody(name, this.#number)) };
    const key_ = isDirect ? 'direct' : key;
    const response = await fetch(`${isDirect ? `${vendorUrl}/${vendor}-a` : url}${client.path(address)}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [client.keyHeader]: client.keyHeader === 'authorization' ? `Bearer ${key_}` : key_,
        ...(hasSession && namedInHeaders(name, this.#number)),
      },
      body: JSON.stringify(name === 'messages' ? withMarks(body) : body),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    if (!isStream) return JSON.parse(text) as JsonObject;
    const events: StreamEvent[] = [];
    createParser({ onEvent: ({ event, data }) => events.push({ name: event, data }) }).feed(text);
    return client.fold(events);
  }
}

/** How tools name a conversation. */
function namedInBody(client: TextFormat, number: number): JsonObject {
  const name = `session-of-${nameOf(number)}`;
  if (client === 'chat' || client === 'responses') return { prompt_cache_key: name };
  return client === 'messages' ? { metadata: { user_id: `user_${name}` } } : {};
}

function namedInHeaders(client: TextFormat, number: number): Record<string, string> {
  const names: Partial<Record<TextFormat, string>> = {
    responses: 'session-id',
    messages: 'x-claude-code-session-id',
    gemini: 'x-session-id',
  };
  const name = names[client];
  return name === undefined ? {} : { [name]: `session-of-${nameOf(number)}` };
}

/** Breakpoints as Claude Code sets them: after the instructions, and at the end. */
function withMarks(body: JsonObject): JsonObject {
  const cache_control = { type: 'ephemeral' };
  const messages = objectsOf(body['messages']);
  const last = messages.at(-1);
  const content = objectsOf(last?.['content']);
  const marked = content.map((block, index) => (index === content.length - 1 ? { ...block, cache_control } : block));
  return {
    ...body,
    system: [{ type: 'text', text: body['system'] as string, cache_control }],
    messages: [...messages.slice(0, -1), { ...last, content: marked }],
  };
}

function describe({ seen }: CacheFixture, vendor: VendorKind): Played {
  const sum = (read: (one: (typeof seen)[number]) => number) => seen.reduce((all, one) => all + read(one), 0);
  const coldTurns: string[] = [];
  const changes: string[] = [];
  const places: string[] = [];
  for (const [name, some] of Map.groupBy(seen, ({ conversation }) => conversation)) {
    for (const [index, { reading, prompt, place }] of some.entries()) {
      const before = some[index - 1];
      if (before === undefined || before.place !== place) places.push(`${name} turn ${index}: ${place}`);
      if (before === undefined) continue;
      const isLong = before.reading.input >= 2 * rulesOf[vendor].least;
      if (isLong && reading.cached < before.reading.input / 2) coldTurns.push(`${name} turn ${index} at ${place}`);
      const change =
        before.place.split(' ')[0] === place.split(' ')[0] ? firstChange(before.prompt, prompt) : undefined;
      if (change !== undefined) changes.push(`${name} turn ${index}: ${change}`);
    }
  }
  return {
    share: sum(({ reading }) => reading.cached) / sum(({ reading }) => reading.input),
    coldTurns,
    changes,
    places,
  };
}

/** The vendor's own client. */
export function nativeOf({ vendor }: Pick<Cell, 'vendor'>): TextFormat {
  return vendors[vendor].format;
}
