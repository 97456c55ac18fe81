import { deepStrictEqual, ok } from 'node:assert/strict';
import { createParser } from 'eventsource-parser';
import type { JsonObject } from '#core/platform/json.ts';
import type { RecordedRequest } from '../../support/faulty-upstream.ts';
import { type TextFormat, textFormats } from '../../support/formats.ts';
import { readBody } from '../../support/read-body.ts';
import type { Answer as Read } from '../../support/readers/answer.ts';
import { readers } from '../../support/readers/index.ts';
import type { Outcome } from '../cell.ts';
import type { StreamEvent, Written } from '../clients/client-format.ts';
import { clients } from '../clients/index.ts';
import type { Answer, Entry } from '../conversation.ts';
import { checkRequest, lossesOf, searchIsOff } from './check-request.ts';
import { descriptions } from './descriptions.ts';
import { checkFailure, checkRefusal, checkUnsupported } from './failures.ts';
import { anotherModel, bytesOf, cannotSay, headersOf, withHabits } from './habits.ts';
import { vendorLossesOf } from './losses.ts';
import { scenarioOf, scenarios, type VendorTurn } from './scenarios.ts';
import { hasPreset, modelElsewhere, modelFor, type Place, placeOf, type VendorFixture } from './vendor-fixture.ts';
import type { VendorDescription } from './vendor.ts';

export interface VendorCell {
  readonly client: TextFormat;
  readonly upstream: string; // name of a vendor
  readonly feature: string; // name of a scenario
  readonly isStream: boolean;
}

export function allVendorCells(): VendorCell[] {
  const pairs = descriptions.flatMap(({ name: upstream }) => textFormats.map((client) => ({ client, upstream })));
  return pairs.flatMap((pair) =>
    scenarios.flatMap(({ name: feature }) => [true, false].map((isStream) => ({ ...pair, feature, isStream }))),
  );
}

/** What a cell must lose: exactly the accepted losses. */
export function expectedOutcome(cell: VendorCell): Outcome {
  const { client, feature, upstream } = cell;
  const { turns } = scenarioOf(feature);
  const isUnknown = clients[client].cannotSay(feature) || turns.some((turn) => cannotSay(client, turn));
  if (isUnknown || vendorOf(cell).lacks?.includes(feature) === true) return { verdict: 'absent' };
  const losses = vendorLossesOf(upstream, client, feature);
  return losses.length === 0 ? { verdict: 'pass' } : { verdict: 'loss', losses };
}

function vendorOf({ upstream }: VendorCell): VendorDescription {
  return descriptions.find(({ name }) => name === upstream) as VendorDescription;
}

/** Plays all turns of a scenario. Never throws. */
export async function runVendorCell(fixture: VendorFixture, cell: VendorCell): Promise<Outcome> {
  const vendor = vendorOf(cell);
  const { turns } = scenarioOf(cell.feature);
  const expected = expectedOutcome(cell);
  if (expected.verdict === 'absent') return expected;
  if (!hasPreset(vendor)) return { verdict: 'fail', why: `there is no preset ${vendor.name}` };
  const run = new VendorRun(fixture, cell);
  try {
    for (const turn of turns) await run.play(turn);
  } catch (error) {
    run.complain(error);
  }
  return run.outcome();
}

class VendorRun {
  readonly #fixture: VendorFixture;
  readonly #cell: VendorCell;
  readonly #turns: readonly VendorTurn[];
  readonly #problems = new Set<string>();
  readonly #losses = new Set<string>();
  /** Answers as the client received them. */
  readonly #answers: JsonObject[] = [];
  /** Ids of calls that the client received, by those of the script. */
  readonly #ids = new Map<string, string>();

  constructor(fixture: VendorFixture, cell: VendorCell) {
    this.#fixture = fixture;
    this.#cell = cell;
    this.#turns = scenarioOf(cell.feature).turns;
  }

  complain(error: unknown): void {
    this.#problems.add(error instanceof Error ? error.message : String(error));
  }

  outcome(): Outcome {
    const { upstream, client, feature } = this.#cell;
    const accepted = new Set(vendorLossesOf(upstream, client, feature));
    for (const loss of this.#losses.difference(accepted)) this.complain(`not an accepted loss: ${loss}`);
    for (const loss of accepted.difference(this.#losses)) this.complain(`not lost, although accepted: ${loss}`);
    if (this.#problems.size > 0) return { verdict: 'fail', why: [...this.#problems].join('\n') };
    return this.#losses.size === 0 ? { verdict: 'pass' } : { verdict: 'loss', losses: [...this.#losses] };
  }

  /** Collects the failure of a check, so that the next checks still run. */
  #check(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.complain(error);
    }
  }

  async play(turn: VendorTurn): Promise<void> {
    const { client, isStream, upstream } = this.#cell;
    const { answer, fault, isBefore = false } = turn;
    const model = `dp/${isBefore ? modelElsewhere(client) : modelFor(upstream, client, isStream, fault)}`;
    const begun = Promise.withResolvers<void>();
    this.#fixture.next = { answer, fault, begun: begun.promise };
    this.#fixture.complaints.length = 0;
    const before = this.#fixture.requests.length;
    const response = await this.#send(turn, model);
    begun.resolve();
    const received = await readBody(response);
    const body = received.text;
    const requests = this.#fixture.requests.slice(before);
    for (const complaint of isBefore ? [] : this.#fixture.complaints) this.complain(`the vendor refuses: ${complaint}`);
    if (fault === 'refused' || fault === 'rate limit') return checkRefusal(client, fault, response, body);
    if (fault !== undefined) return checkFailure(client, isStream, response, received);
    if (turn.habits?.hasSearch === true && requests.length === 0) return this.#seeNoSearch(response, body);
    ok(response.status === 200 && received.isWhole, `the client got ${response.status}: ${body}`);
    if (!isBefore) this.#checkRequest(turn, requests);
    this.#checkAnswer(turn, model, body, placeOf(requests[0] as RecordedRequest));
  }

  #send({ ask, habits }: VendorTurn, model: string): Promise<Response> {
    const { client, isStream } = this.#cell;
    const { path, keyHeader, write } = clients[client];
    const key = keyHeader === 'authorization' ? `Bearer ${this.#fixture.key}` : this.#fixture.key;
    const question = { ...ask, entries: ask.entries.map((entry) => this.#written(entry)) };
    return fetch(`${this.#fixture.url}${path({ model, isStream })}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [keyHeader]: key, ...headersOf[client] },
      body: bytesOf(withHabits(client, write(question, { model, isStream }), habits), habits),
      // An upstream that stays open must not keep the client waiting until `idle_timeout`.
      signal: AbortSignal.timeout(15_000),
    });
  }

  #written(entry: Entry): Written {
    if (entry.type === 'result') return { ...entry, id: this.#ids.get(entry.id) ?? entry.id };
    if (entry.type !== 'echo') return entry;
    const { echo } = clients[this.#cell.client];
    return { type: 'echo', raw: echo(this.#answers[entry.turn] as JsonObject, entry.forgets === true) };
  }

  /** A search that no route can run is refused, or fails as the tool itself does. */
  #seeNoSearch(response: Response, body: string): void {
    this.#losses.add(searchIsOff);
    if (response.status === 200) ok(body.includes('"error_code":"unavailable"'), `the search did not fail: ${body}`);
    else checkUnsupported(this.#cell.client, response, body);
  }

  /** Checks what the vendor received. */
  #checkRequest(turn: VendorTurn, [request, ...more]: readonly RecordedRequest[]): void {
    ok(request !== undefined, 'the vendor was not asked');
    ok(more.length === 0, 'the vendor was asked more than once');
    const place = placeOf(request);
    ok(place !== undefined, `the vendor was asked at ${request.path}`);
    const body = request.json<JsonObject>();
    this.#check(() => ok(!request.body.includes(anotherModel), 'the vendor was asked for another model'));
    this.#check(() => checkRequest(turn, this.#turns, body));
    for (const loss of lossesOf(turn, this.#cell.client, place, body)) this.#losses.add(loss);
  }

  /** Checks what the client received. */
  #checkAnswer({ answer, isBefore, ask }: VendorTurn, model: string, body: string, place: Place | undefined): void {
    const { client, isStream } = this.#cell;
    const whole = isStream ? clients[client].fold(eventsOf(body)) : (JSON.parse(body) as JsonObject);
    this.#answers.push(whole);
    const read = isStream ? readers[client].stream(body) : readers[client].whole(whole as never);
    for (const [index, { id }] of answer.blocks.filter((block) => block.type === 'call').entries()) {
      this.#ids.set(id, read.calls[index]?.id ?? '');
    }
    if (isBefore === true) return;
    this.#check(() => deepStrictEqual(comparable(read), idealOf(answer)));
    this.#check(() => checkIds(read));
    this.#check(() => checkCounts(read, answer, place));
    this.#check(() => {
      const named = whole['model'] ?? whole['modelVersion'];
      ok(named === model, `the answer names ${String(named)}`);
      // Azure's first chunk names none.
      const names = [...body.matchAll(/"model(?:Version)?":"([^"]+)"/g)].map(([, name]) => name);
      ok(
        names.every((name) => name === model),
        `the answer names ${names.join(', ')}`,
      );
    });
    // The gateway stops the answers of vendors that cannot, turns functions into freeform tools, and encodes them again.
    const isWrittenAnew = ask.stop !== undefined || ask.tools?.some(({ grammar }) => grammar !== undefined) === true;
    if (client === place?.format && !isWrittenAnew) {
      for (const name of place.endpoint.extras ?? []) {
        this.#check(() => ok(body.includes(`"${name}":`), `the vendor's ${name} is lost`));
      }
    }
    if (ask.stop !== undefined && clients[client].tellsStop && whole['stop_reason'] !== 'stop_sequence') {
      this.#losses.add('the stop sequence that was met is not reported');
    }
  }
}

function checkIds({ calls }: Read): void {
  const ids = calls.map(({ id }) => id);
  ok(!ids.includes('') && new Set(ids).size === ids.length, `ids of calls are ${JSON.stringify(ids)}`);
}

function checkCounts({ usage }: Read, answer: Answer, place: Place | undefined): void {
  ok(usage !== undefined, 'nothing is counted');
  const isCounted = place?.endpoint.oddities.every(({ answer: change }) => (change?.(answer) ?? answer).usage);
  const { input, output } = usage;
  if (isCounted === false) ok(Number(input) > 0 && Number(output) > 0, 'nothing is counted');
  else deepStrictEqual({ input, output }, { input: answer.usage?.input, output: answer.usage?.output });
}

function comparable({ text, reasoning, calls, finish, error }: Read): object {
  const plainCalls = calls.map(({ name, arguments: given, input = given }) => ({ name, input }));
  return { text: text.trim(), reasoning: reasoning.trim(), calls: plainCalls, finish, error };
}

const finishes = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  calls: 'tool_calls',
  withheld: 'content_filter',
};

function idealOf({ blocks, end }: Answer): object {
  const joined = (type: 'text' | 'thought'): string =>
    blocks.map((block) => (block.type === type ? block.text : '')).join('');
  return {
    text: joined('text').trim(),
    reasoning: joined('thought').trim(),
    calls: blocks.flatMap((block) => (block.type === 'call' ? [{ name: block.name, input: block.input }] : [])),
    finish: finishes[end],
    error: undefined,
  };
}

function eventsOf(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  createParser({ onEvent: ({ event, data }) => events.push({ name: event, data }) }).feed(text);
  return events;
}
