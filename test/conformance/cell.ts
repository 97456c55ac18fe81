import { ok } from 'node:assert/strict';
import { Ajv } from 'ajv';
import { createParser } from 'eventsource-parser';
import type { JsonObject } from '#core/platform/json.ts';
import { type TextFormat, textFormats, type UpstreamTextFormat, upstreamTextFormats } from '../support/formats.ts';
import type { ClientFormat, StreamEvent, Written } from './clients/client-format.ts';
import { clients } from './clients/index.ts';
import type { Answer, Entry, Failure } from './conversation.ts';
import {
  requestAfterLosses,
  comparableRequest,
  expectMembers,
  idealRequest,
  idealAnswer,
  isLossy,
  answerAfterLosses,
} from './expectation.ts';
import { featureOf, features, type Turn } from './features.ts';
import { askedAs, modelFor, type ConformanceFixture } from './fixture.ts';
import { type Loss, lossesOf } from './losses.ts';
import { upstreams } from './upstreams/index.ts';

export interface Cell {
  readonly client: TextFormat;
  readonly upstream: UpstreamTextFormat;
  readonly feature: string;
  readonly isStream: boolean;
}

/** `absent`: the client's format does not have the feature. */
export type Outcome =
  | { readonly verdict: 'pass' }
  | { readonly verdict: 'loss'; readonly losses: readonly string[] }
  | { readonly verdict: 'absent' }
  | { readonly verdict: 'fail'; readonly why: string };

export function allCells(): Cell[] {
  const pairs = textFormats.flatMap((client) => upstreamTextFormats.map((upstream) => ({ client, upstream })));
  return pairs.flatMap((pair) =>
    features.flatMap(({ name: feature }) => [true, false].map((isStream) => ({ ...pair, feature, isStream }))),
  );
}

/** Plays all turns of a feature. Never throws. */
export async function runCell(fixture: ConformanceFixture, cell: Cell): Promise<Outcome> {
  if (clients[cell.client].cannotSay(cell.feature)) return { verdict: 'absent' };
  try {
    const run = new CellRun(fixture, cell);
    for (const [index, turn] of featureOf(cell.feature).turns.entries()) await run.play(turn, index);
    return run.outcome();
  } catch (error) {
    return { verdict: 'fail', why: error instanceof Error ? error.message : String(error) };
  }
}

const ajv = new Ajv({ strict: false });

/** @throws AssertionError with the place where a value violates its schema */
function validate(schema: object, value: unknown, what: string): void {
  ok(ajv.validate(schema, value), `${what} is misshapen: ${ajv.errorsText()}\n${JSON.stringify(value)}`);
}

class CellRun {
  readonly #fixture: ConformanceFixture;
  readonly #cell: Cell;
  readonly #client: ClientFormat;
  readonly #losses: readonly Loss[];
  readonly #turns: readonly Turn[];
  /** Answers as the client received them. */
  readonly #answers: JsonObject[] = [];
  /** Of the current turn. */
  #upstream: UpstreamTextFormat;
  #notes = '';
  #isLossy = false;

  constructor(fixture: ConformanceFixture, cell: Cell) {
    this.#fixture = fixture;
    this.#cell = cell;
    this.#upstream = cell.upstream;
    this.#client = clients[cell.client];
    this.#losses = lossesOf(cell.feature, cell.client, cell.upstream);
    this.#turns = featureOf(cell.feature).turns;
  }

  async play(turn: Turn, index: number): Promise<void> {
    const { isStream } = this.#cell;
    const failure = typeof turn.answer === 'string' ? turn.answer : undefined;
    const isElsewhere = turn.elsewhere !== undefined;
    this.#upstream = turn.elsewhere ?? this.#cell.upstream;
    const model = `dp/${modelFor({ ...this.#cell, upstream: this.#upstream, failure, isElsewhere })}`;
    this.#fixture.answer = turn.answer;
    const before = this.#fixture.requests.length;
    const question = { ...turn.ask, entries: turn.ask.entries.map((entry) => this.#written(entry)) };
    const address = { model, isStream };
    const response = await fetch(`${this.#fixture.url}${this.#client.path(address)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...keyHeader(this.#client, this.#fixture.key) },
      body: JSON.stringify(this.#client.write(question, address)),
    });
    const body = await response.text();
    this.#notes += `${response.headers.get('x-daypass-notes') ?? ''}\n`;
    if (this.#losses.some(({ isRefused }) => isRefused === true)) return this.#notServed(before, response, body);
    this.#checkRequest(before, turn, index, body);
    if (typeof turn.answer === 'string') this.#refused(turn.answer, response, body);
    else this.#checkAnswer(turn.answer, response, body, model);
  }

  outcome(): Outcome {
    const happened = this.#losses.filter(({ isCondition }) => isCondition === true || this.#isLossy);
    const missing = this.#losses.find((loss) => !happened.includes(loss));
    if (missing !== undefined) return { verdict: 'fail', why: `nothing is lost, although ${missing.name}` };
    const silent = happened.find(({ note }) => note !== undefined && !note.test(this.#notes));
    if (silent !== undefined) return { verdict: 'fail', why: `no note tells that ${silent.name}: ${this.#notes}` };
    if (happened.length === 0) return { verdict: 'pass' };
    return { verdict: 'loss', losses: happened.map(({ name }) => name) };
  }

  #written(entry: Entry): Written {
    if (entry.type !== 'echo') return entry;
    const answer = this.#answers[entry.turn] as JsonObject;
    return { type: 'echo', raw: this.#client.echo(answer, entry.forgets === true) };
  }

  /** Checks what the upstream received. */
  #checkRequest(before: number, turn: Turn, index: number, body: string): void {
    const upstream = this.#upstream;
    const { isStream } = this.#cell;
    const [request, ...more] = this.#fixture.requests.slice(before);
    ok(request !== undefined, `the upstream was not asked: ${body}`);
    ok(more.length === 0, 'the upstream was asked more than once');
    const asked = askedAs(request);
    ok(asked?.format === upstream, `the upstream was asked at ${request.path}`);
    ok(asked.isStream === isStream, 'the upstream was asked for another kind of answer');
    const format = upstreams[upstream];
    const sent = request.json<JsonObject>();
    validate(format.schema, sent, 'the request to the upstream');
    const received = format.read(sent);
    const isSigned = received.entries.some((entry) => entry.type === 'thought' && entry.signature !== undefined);
    ok(turn.elsewhere === undefined || !isSigned, 'the upstream received a foreign signature');
    const ideal = idealRequest(turn, this.#turns, this.#client, upstream);
    this.#isLossy ||= isLossy(
      comparableRequest(received, turn, upstream),
      ideal,
      requestAfterLosses(this.#losses, ideal, index, upstream),
    );
  }

  /** Checks what the client received. */
  #checkAnswer(answer: Answer, response: Response, body: string, model: string): void {
    ok(response.status === 200, `the client got ${response.status}: ${body}`);
    const whole = this.#cell.isStream
      ? this.#readStream(response, body, this.#mayBeMisshapen(answer))
      : (JSON.parse(body) as JsonObject);
    if (!this.#mayBeMisshapen(answer)) validate(this.#client.schemas.whole, whole, 'the answer');
    ok([whole['model'], whole['modelVersion']].includes(model), 'the answer names another model');
    this.#answers.push(whole);
    const received = this.#client.read(whole);
    const ideal = idealAnswer(answer, this.#client);
    if (answer.usage === undefined) {
      const isNeeded = this.#cell.client !== 'gemini' || !this.#isPassedThrough;
      ok(
        !isNeeded || (received.usage !== undefined && received.usage.input > 0 && received.usage.output > 0),
        'nothing was counted',
      );
      Object.assign(ideal, { usage: received.usage });
    }
    this.#isLossy ||= isLossy(received, ideal, answerAfterLosses(this.#losses, ideal));
  }

  /** A same-format reply passes through unchanged. */
  get #isPassedThrough(): boolean {
    return this.#cell.client === this.#upstream;
  }

  /** Estimated counts in a reply that passes through are the two that clients require. */
  #mayBeMisshapen({ usage }: Answer): boolean {
    return usage === undefined && this.#isPassedThrough;
  }

  #readStream(response: Response, body: string, mayBeMisshapen: boolean): JsonObject {
    const type = response.headers.get('content-type') ?? '';
    ok(type.startsWith('text/event-stream'), `a stream of ${type}: ${body}`);
    const events: StreamEvent[] = [];
    createParser({ onEvent: ({ event, data }) => events.push({ name: event, data }) }).feed(body);
    const { eventType, events: schemas } = this.#client.schemas;
    for (const { data } of events.filter((event) => event.data !== '[DONE]')) {
      const event = JSON.parse(data) as JsonObject;
      const schema = schemas[eventType(event)];
      ok(schema !== undefined, `an event that nobody knows: ${data}`);
      if (!mayBeMisshapen) validate(schema, event, 'an event');
    }
    return this.#client.fold(events);
  }

  /** A request that the upstream cannot understand is refused before it is sent. */
  #notServed(before: number, { status }: Response, body: string): void {
    ok(this.#fixture.requests.length === before, 'the upstream was asked for what it cannot do');
    ok(status === 400, `a refusal is a ${status}: ${body}`);
    validate(this.#client.schemas.error, JSON.parse(body), 'the error');
    this.#isLossy = true;
  }

  #refused(failure: Failure, { status, headers }: Response, body: string): void {
    const { schemas, failures } = this.#client;
    const sent = JSON.parse(body) as JsonObject;
    ok(status === statusOf(failure, this.#cell.client), `${failure} is a ${status}: ${body}`);
    validate(schemas.error, sent, 'the error');
    expectMembers(sent, failures[failure]);
    if (failure === 'rate limit') ok(headers.get('retry-after') === '7', 'retry-after is not what the upstream sent');
    if (failure === 'overflow')
      ok(isOverflow(sent, this.#cell.client), `no client knows this for an overflow: ${body}`);
    if (failure === 'bad key') ok(headers.get('x-should-retry') === 'false', 'clients would repeat it');
    ok(!body.includes('sk-ab'), 'the error has a part of the key in it');
  }
}

function keyHeader({ keyHeader: name }: ClientFormat, key: string): Record<string, string> {
  return { [name]: name === 'authorization' ? `Bearer ${key}` : key };
}

function statusOf(failure: Failure, client: TextFormat): number {
  if (failure === 'overflow') return 400;
  if (failure === 'rate limit') return 429;
  // Codex repeats every other status.
  return client === 'responses' ? 400 : 424;
}

/** The messages by which the tools of a format recognize that the prompt must be shortened. */
function isOverflow(body: JsonObject, client: TextFormat): boolean {
  const { message } = body['error'] as { message: string };
  // OpenAI's clients recognize it by its code, which is checked with the other members.
  return client === 'messages' ? message.startsWith('prompt is too long') : message !== '';
}
