import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Dialect } from '#core/catalog/formats.ts';
import type { Answer, StreamEvent, Work } from './answer.ts';
import { errorBody } from './error-body.ts';
import type { Fault } from './fault.ts';

const message = 'the demo upstream fails because it was asked to';
const page =
  '<!doctype html>\n<title>502 Bad Gateway</title>\n<h1>502 Bad Gateway</h1>\n<p>The demo upstream was asked for this page.</p>\n';
const eventStream = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } as const;
const json = { 'content-type': 'application/json; charset=utf-8' } as const;
const retryAfter = 2; // seconds
/** Ms of work as a model would need them: a pause to think, then some 65 tokens a second. */
const durations = { start: 250, thinking: 900, token: 15 } as const satisfies Record<Work, number>;
const slowStart = 5_000; // ms

/** Sends one answer at the pace of a model, or fails in the way that was asked for. Ends early when the client leaves. */
export class Delivery {
  readonly #response: ServerResponse;
  readonly #pace: number;
  readonly #gone = new AbortController();

  /** @param pace what every wait is multiplied with */
  constructor(response: ServerResponse, pace: number) {
    this.#response = response;
    this.#pace = pace;
    response.once('close', () => this.#gone.abort());
  }

  async send(answer: Answer, fault: Fault | undefined, dialect: Dialect): Promise<void> {
    try {
      if (fault?.kind === 'status') this.#refuse(fault.status, dialect);
      else if (fault?.kind === 'html') this.#body(502, { 'content-type': 'text/html' }, page);
      else await this.#begin(answer, fault);
    } catch (error) {
      if (!this.#gone.signal.aborted) throw error;
    }
  }

  async #begin(answer: Answer, fault: Fault | undefined): Promise<void> {
    if (fault?.kind === 'slow') await this.#wait(slowStart);
    const head = answer.isStream ? eventStream : json;
    if (fault?.kind === 'empty') this.#body(200, head, '');
    else if (fault?.kind === 'stall') this.#response.writeHead(200, head).flushHeaders();
    else if (answer.isStream) await this.#stream(answer, fault);
    else await this.#whole(answer, fault);
  }

  #refuse(status: number, dialect: Dialect): void {
    const retry: Record<string, string> = status === 429 ? { 'retry-after': String(retryAfter) } : {};
    this.#body(status, { ...json, ...retry }, JSON.stringify(errorBody(dialect, status, message)));
  }

  /** A whole answer takes as long as its stream. */
  async #whole(answer: Answer, fault: Fault | undefined): Promise<void> {
    const time = answer.events().reduce((sum, { after }) => sum + durationOf(after), 0);
    await this.#wait(time);
    const isError = fault?.kind === 'error-event' || fault?.kind === 'error-midway';
    const body = JSON.stringify(isError ? answer.failure(message) : answer.whole());
    if (fault?.kind !== 'cut' && fault?.kind !== 'stall-midway') return this.#body(200, json, body);
    this.#response.writeHead(200, { ...json, 'content-length': Buffer.byteLength(body) });
    await this.#write(body.slice(0, body.length / 2));
    if (fault.kind === 'cut') this.#cut();
  }

  async #stream(answer: Answer, fault: Fault | undefined): Promise<void> {
    this.#response.writeHead(200, eventStream).flushHeaders();
    const events = answer.events();
    const end = endOf(events, fault);
    for (const event of events.slice(0, end)) {
      await this.#wait(durationOf(event.after));
      await this.#write(formatEvent(event));
    }
    if (fault?.kind === 'stall-midway') return;
    if (fault?.kind === 'cut') this.#cut();
    else if (end < events.length) this.#response.end(formatEvent(answer.failureEvent(message, end)));
    else this.#response.end();
  }

  async #wait(milliseconds: number): Promise<void> {
    const time = milliseconds * this.#pace;
    if (time > 0) await wait(time, undefined, { signal: this.#gone.signal });
  }

  /** Writes no faster than the client reads. */
  async #write(chunk: string): Promise<void> {
    this.#gone.signal.throwIfAborted();
    if (!this.#response.write(chunk)) await once(this.#response, 'drain', { signal: this.#gone.signal });
  }

  /** Closes the connection once what was written has gone out. */
  #cut(): void {
    this.#response.socket?.destroySoon();
  }

  #body(status: number, headers: Readonly<Record<string, string>>, body: string): void {
    this.#response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  }
}

function durationOf(after: StreamEvent['after']): number {
  return after === undefined ? 0 : durations[after];
}

/** How many events are sent: all of them, none, or up to the middle of the content. */
function endOf(events: readonly StreamEvent[], fault: Fault | undefined): number {
  if (fault?.kind === 'error-event') return 0;
  if (fault?.kind !== 'cut' && fault?.kind !== 'error-midway' && fault?.kind !== 'stall-midway') return events.length;
  const content = events
    .keys()
    .filter((index) => isContent(events[index] as StreamEvent))
    .toArray();
  return (content[Math.floor(content.length / 2)] ?? 0) + 1;
}

function isContent({ after }: StreamEvent): boolean {
  return after === 'token' || after === 'thinking';
}

function formatEvent({ name, data }: StreamEvent): string {
  const line = data === '[DONE]' ? data : JSON.stringify(data);
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${line}\n\n`;
}
