import { isDeepStrictEqual } from 'node:util';
import { type UpstreamTextFormat, textFormats } from '../../support/formats.ts';
import type { Answer, Call, Entry } from '../conversation.ts';
import { type ConformanceFixture, openConformanceFixture } from '../fixture.ts';
import { upstreams } from '../upstreams/index.ts';
import { type Heard, type Player, players } from './players.ts';
import { type Step, stepsOf, turns } from './script.ts';

export interface SessionCell {
  readonly client: string;
  readonly upstream: UpstreamTextFormat;
  readonly feature: 'session';
}

export interface SessionResults {
  /** One of each client. */
  readonly lines: readonly string[];
  readonly failures: readonly string[];
}

/** One session of each official client on a route of each format. */
export function allSessions(): SessionCell[] {
  return Object.keys(players).flatMap((client) =>
    textFormats.map((upstream) => ({ client, upstream, feature: 'session' as const })),
  );
}

/**
 * Plays sessions of twenty turns with images, searches, tools, reasoning and structured output, and looks at every answer and
 * at what the upstream gets of the history.
 *
 * @param databaseUrl a migrated, empty database of a PostgreSQL
 */
export async function playSessions(databaseUrl: string, cells: readonly SessionCell[]): Promise<SessionResults> {
  await using fixture = await openConformanceFixture(databaseUrl);
  const failures: string[] = [];
  const passed = new Map<string, string[]>();
  for (const [number, { client, upstream }] of cells.entries()) {
    const { url, key } = fixture;
    const player = players[client]?.({ url, key, model: upstream }) as Player;
    const session = new Session(fixture, player, number, upstream);
    const faults = await session.play();
    failures.push(...faults.map((fault) => `${client} on ${upstream}: ${fault}`));
    const said = `${upstream} ${faults.length === 0 ? `${turns} turns` : 'FAILED'}`;
    passed.set(client, [...(passed.get(client) ?? []), said]);
  }
  return { lines: [...passed].map(([client, said]) => `${client}: ${said.join(', ')}`), failures };
}

class Session {
  readonly #fixture: ConformanceFixture;
  readonly #player: Player;
  readonly #number: number;
  readonly #upstream: UpstreamTextFormat;
  readonly #faults: string[] = [];
  /** Everything that has been said, as the upstream is to get it. */
  readonly #history: string[] = [];
  readonly #ids = new Set<string>();
  /** The client's ids of calls, by those of the script. */
  readonly #calls = new Map<string, string>();

  constructor(fixture: ConformanceFixture, player: Player, number: number, upstream: UpstreamTextFormat) {
    this.#fixture = fixture;
    this.#player = player;
    this.#number = number;
    this.#upstream = upstream;
  }

  /** @returns what was wrong, until the first turn that failed */
  async play(): Promise<readonly string[]> {
    for (let turn = 0; turn < turns && this.#faults.length === 0; turn++) {
      for (const step of stepsOf(this.#number, turn)) {
        const before: number = this.#faults.length;
        await this.#step(step).catch((error: unknown) => this.#faults.push(String(error)));
        if (this.#faults.length === before) continue;
        this.#faults.splice(
          before,
          Infinity,
          ...this.#faults.slice(before).map((fault) => `turn ${turn + 1}: ${fault}`),
        );
        break;
      }
    }
    return this.#faults;
  }

  async #step(step: Step): Promise<void> {
    this.#fixture.answer = step.answer;
    const results = step.results?.map((result) => ({ ...result, id: this.#calls.get(result.id) ?? result.id }));
    if (step.text !== undefined) this.#history.push(`user: ${step.text}`);
    for (const { text } of results ?? []) this.#history.push(`result: ${text}`);
    const heard = await this.#player({ ...step, ...(results && { results }) });
    this.#compare(heard, step.answer);
    this.#compareHistory();
    for (const block of step.answer.blocks) {
      if (block.type === 'text') this.#history.push(`model: ${block.text}`);
      if (block.type === 'call') this.#history.push(`call: ${describeCall(block)}`);
    }
  }

  #compare(heard: Heard, { blocks, usage }: Answer): void {
    const textOf = (type: 'text' | 'thought') =>
      blocks.map((block) => (block.type === type ? block.text : '')).join('');
    const calls = blocks.filter((block) => block.type === 'call');
    this.#same('the text', heard.text, textOf('text'));
    this.#same('the thought', heard.thought, textOf('thought'));
    this.#same('the calls', heard.calls.map(describeCall), calls.map(describeCall));
    this.#same('the tokens', [heard.input, heard.output], [usage?.input, usage?.output]);
    this.#isNew('the answer', heard.id);
    for (const [index, { id }] of heard.calls.entries()) {
      this.#isNew('a call', id);
      this.#calls.set(calls[index]?.id ?? '', id);
    }
  }

  /** The scripted upstreams give all answers one id, which passes through to clients of their own format. */
  #isNew(what: string, id: string): void {
    if (id === '') this.#faults.push(`${what} has no id`);
    if (what === 'a call' && this.#ids.has(id)) this.#faults.push(`${what} has the id ${id} of another`);
    this.#ids.add(id);
  }

  #same(what: string, found: unknown, wanted: unknown): void {
    if (isDeepStrictEqual(found, wanted)) return;
    this.#faults.push(`${what}: ${JSON.stringify(found)} in place of ${JSON.stringify(wanted)}`);
  }

  #compareHistory(): void {
    const request = this.#fixture.requests.at(-1);
    const { entries } = upstreams[this.#upstream].read(request?.json() ?? {});
    const found = joined(entries.flatMap(describeEntry));
    this.#same('the history', found, joined(this.#history));
  }
}

/** Clients of Gemini send the pieces back in which an answer was streamed. */
function joined(entries: readonly string[]): string[] {
  const all: string[] = [];
  for (const entry of entries) {
    const isNext = entry.startsWith('model: ') && all.at(-1)?.startsWith('model: ') === true;
    if (isNext) all.push(`${all.pop()}${entry.slice('model: '.length)}`);
    else all.push(entry);
  }
  return all;
}

function describeCall({ name, input }: Pick<Call, 'name' | 'input'>): string {
  return `${name} ${JSON.stringify(input)}`;
}

/** Where images of results follow in a message of the user. */
const follows = '\n\nMedia from this tool follows in a message.';

/** Images of results become messages of the user in some formats; thoughts and marks of errors are not in all. */
function describeEntry(entry: Entry): string[] {
  switch (entry.type) {
    case 'text':
      return [`${entry.by}: ${entry.text}`];
    case 'call':
      return [`call: ${describeCall(entry)}`];
    case 'result':
      return [`result: ${entry.text.replace(/^Error: /, '').replace(follows, '')}`];
    default:
      return [];
  }
}
