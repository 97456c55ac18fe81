import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import { type Link, LinkedList } from '#core/gateway/pipeline/linked-list.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { writeCallerMembers, writeRequestMembers, writeResultMembers, lineStart } from './record-line.ts';
import { isUnauthenticated } from './unauthenticated-counts.ts';

interface RequestInFlight {
  readonly exchange: Exchange;
  readonly request: string;
  caller: string;
  isBeginSettled: boolean; // true once its `begin` line is queued or no longer needed
  position: number | undefined; // after the `begin` line; undefined until the line is queued
}

const inFlightFact = defineFact<Link<RequestInFlight>>('log_running');

export class RequestsInFlight {
  readonly #requests = new LinkedList<RequestInFlight>();
  readonly #pendingBegins: RequestInFlight[] = []; // their lines are queued within milliseconds

  get size(): number {
    return this.#requests.size;
  }

  add(exchange: Exchange): void {
    const running = {
      exchange,
      request: writeRequestMembers(exchange),
      caller: '',
      isBeginSettled: false,
      position: undefined,
    };
    exchange.set(inFlightFact, this.#requests.add(running));
    this.#pendingBegins.push(running);
  }

  get hasPendingBegins(): boolean {
    return this.#pendingBegins.length > 0;
  }

  isBeginPending(exchange: Exchange): boolean {
    return exchange.find(inFlightFact)?.item.isBeginSettled === false;
  }

  positionOf(exchange: Exchange): number | undefined {
    return exchange.find(inFlightFact)?.item.position;
  }

  /** Returns undefined if the `begin` line will include what `enter` adds, or if the request is not recorded. */
  enter(exchange: Exchange): string | undefined {
    const running = exchange.find(inFlightFact)?.item;
    if (running === undefined) return undefined;
    running.caller = writeCallerMembers(exchange);
    return running.isBeginSettled ? `${lineStart.enter}"id":"${exchange.id}"${running.caller}}` : undefined;
  }

  end(exchange: Exchange, outcome: Outcome): string | undefined {
    const link = exchange.find(inFlightFact);
    if (link === undefined) return undefined;
    this.#requests.remove(link);
    const running = link.item;
    running.isBeginSettled = true;
    const caller = running.caller === '' ? writeCallerMembers(exchange) : running.caller;
    return `${lineStart.end}${running.request}${caller}${writeResultMembers(exchange, outcome)}}`;
  }

  /** Returns the `skip` line if a `begin` line was written. */
  skip(exchange: Exchange): string | undefined {
    const link = exchange.find(inFlightFact);
    if (link === undefined) return undefined;
    this.#requests.remove(link);
    const { isBeginSettled } = link.item;
    link.item.isBeginSettled = true;
    return isBeginSettled ? `${lineStart.skip}"id":"${exchange.id}"}` : undefined;
  }

  /**
   * Writes the `begin` lines that are due. A request that has already ended gets only its `end` line. So does a request known to have no
   * account, so that such requests take no space in the journal while the database is unavailable.
   *
   * @param write writes lines and returns the position after them; undefined if they are not queued for the disk
   */
  writePendingBegins(write: (lines: readonly string[]) => number | undefined): void {
    const pending = this.#pendingBegins
      .splice(0)
      .filter(({ exchange, isBeginSettled }) => !isBeginSettled && !isUnauthenticated(exchange));
    if (pending.length === 0) return;
    for (const running of pending) running.isBeginSettled = true;
    const position = write(pending.map(renderBeginLine));
    for (const running of pending) running.position = position;
  }

  /** These lines start a segment. */
  renderBeginLines(): Buffer {
    const lines = this.#requests
      .items()
      .filter(({ exchange }) => !isUnauthenticated(exchange))
      .map((running) => `${renderBeginLine(running)}\n`);
    return Buffer.from(lines.join(''), 'latin1');
  }

  /** Stops recording. Returns an `end` line for each request in flight, which marks it as interrupted. */
  interrupt(): string[] {
    this.#pendingBegins.length = 0;
    return this.#requests
      .items()
      .map(({ request, caller }) => `${lineStart.end}${request}${caller},"outcome":"interrupted"}`);
  }
}

function renderBeginLine({ request, caller }: RequestInFlight): string {
  return `${lineStart.begin}${request}${caller}}`;
}
