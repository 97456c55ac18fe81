import { type Link, LinkedList } from '#core/gateway/pipeline/linked-list.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { callerMembers, requestMembers, resultMembers, startOf } from './record-line.ts';
import { isUnauthenticated } from './unauthenticated-counts.ts';

interface Running {
  readonly exchange: Exchange;
  readonly request: string;
  caller: string;
  isOnFile: boolean;
  /** Position behind the queued `begin` line; undefined until it is queued. */
  position: number | undefined;
}

const runningFact = defineFact<Link<Running>>('log_running');

/** The recorded requests in flight, and their journal lines. */
export class RequestsInFlight {
  readonly #running = new LinkedList<Running>();
  /** Requests without a queued `begin` line; emptied within milliseconds. */
  readonly #fresh: Running[] = [];

  get size(): number {
    return this.#running.size;
  }

  begin(exchange: Exchange): void {
    const running = { exchange, request: requestMembers(exchange), caller: '', isOnFile: false, position: undefined };
    exchange.set(runningFact, this.#running.add(running));
    this.#fresh.push(running);
  }

  /** True for requests whose `begin` lines are due. */
  get hasFresh(): boolean {
    return this.#fresh.length > 0;
  }

  /** True if the `begin` line of this request is due. */
  isFresh(exchange: Exchange): boolean {
    return exchange.find(runningFact)?.item.isOnFile === false;
  }

  /** Position behind the `begin` line of a request; undefined if no such line is on its way to the disk. */
  positionOf(exchange: Exchange): number | undefined {
    return exchange.find(runningFact)?.item.position;
  }

  /** Returns the `enter` line; undefined if the `begin` line will include it or the request is not recorded. */
  enter(exchange: Exchange): string | undefined {
    const running = exchange.find(runningFact)?.item;
    if (running === undefined) return undefined;
    running.caller = callerMembers(exchange);
    return running.isOnFile ? `${startOf.enter}"id":"${exchange.id}"${running.caller}}` : undefined;
  }

  /** Returns the `end` line, after which the request is no longer in flight; undefined if the request is not recorded. */
  end(exchange: Exchange, outcome: Outcome): string | undefined {
    const link = exchange.find(runningFact);
    if (link === undefined) return undefined;
    this.#running.remove(link);
    const running = link.item;
    running.isOnFile = true;
    const caller = running.caller === '' ? callerMembers(exchange) : running.caller;
    return `${startOf.end}${running.request}${caller}${resultMembers(exchange, outcome)}}`;
  }

  /**
   * Removes a request without recording it.
   *
   * @returns the `skip` line, if a `begin` line is on file and would otherwise lack its end
   */
  skip(exchange: Exchange): string | undefined {
    const link = exchange.find(runningFact);
    if (link === undefined) return undefined;
    this.#running.remove(link);
    const { isOnFile } = link.item;
    link.item.isOnFile = true;
    return isOnFile ? `${startOf.skip}"id":"${exchange.id}"}` : undefined;
  }

  /**
   * Writes the `begin` lines that are due. A request that has already ended gets only its `end` line, and so does a request known to
   * belong to no account, so that such requests take no room in the journal while the database is unavailable.
   *
   * @param write writes some lines and returns the position behind them; undefined if they are not on their way to the disk
   */
  writeFresh(write: (lines: readonly string[]) => number | undefined): void {
    const due = this.#fresh.splice(0).filter(({ exchange, isOnFile }) => !isOnFile && !isUnauthenticated(exchange));
    if (due.length === 0) return;
    for (const running of due) running.isOnFile = true;
    const position = write(due.map(beginLine));
    for (const running of due) running.position = position;
  }

  /** The `begin` lines of all requests in flight, which start a segment. */
  beginLines(): Buffer {
    const lines = this.#running
      .items()
      .filter(({ exchange }) => !isUnauthenticated(exchange))
      .map((running) => `${beginLine(running)}\n`);
    return Buffer.from(lines.join(''), 'latin1');
  }

  /** Stops recording. @returns an `end` line for each request in flight, marked as interrupted */
  interrupt(): string[] {
    this.#fresh.length = 0;
    return this.#running
      .items()
      .map(({ request, caller }) => `${startOf.end}${request}${caller},"outcome":"interrupted"}`);
  }
}

function beginLine({ request, caller }: Running): string {
  return `${startOf.begin}${request}${caller}}`;
}
