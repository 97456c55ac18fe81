import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { ChatAnswer, ModelWork, TimedChunk } from './chat-answer.ts';
import { writeChatError } from './chat-error.ts';
import type { DemoFault } from './fault.ts';

const message = 'The demo upstream failed, as requested.';
const page =
  '<!doctype html>\n<title>502 Bad Gateway</title>\n<h1>502 Bad Gateway</h1>\n<p>The demo upstream sends this page, as requested.</p>\n';
const eventStream = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } as const;
const json = { 'content-type': 'application/json; charset=utf-8' } as const;
const retryAfter = 2; // seconds
/** Simulated work before a chunk: a pause to think, then some 65 tokens a second. */
const durationsMs = { start: 250, thinking: 900, token: 15 } as const satisfies Record<ModelWork, number>;
const slowStart = 5_000; // ms

/** Sends one answer at the throughput of a model, or the requested fault. Ends early when the client leaves. */
export class DemoDelivery {
  readonly #response: ServerResponse;
  readonly #delayFactor: number;
  readonly #gone = new AbortController();

  /** @param delayFactor multiplies every wait */
  constructor(response: ServerResponse, delayFactor: number) {
    this.#response = response;
    this.#delayFactor = delayFactor;
    response.once('close', () => this.#gone.abort());
  }

  async send(answer: ChatAnswer, isStream: boolean, fault: DemoFault | undefined): Promise<void> {
    try {
      if (fault?.kind === 'status') this.#refuse(fault.status);
      else if (fault?.kind === 'html') this.#body(502, { 'content-type': 'text/html' }, page);
      else await this.#answer(answer, isStream, fault?.kind);
    } catch (error) {
      if (!this.#gone.signal.aborted) throw error;
    }
  }

  /** Sends the answer of an endpoint without conversations. */
  async sendOther(type: string, body: string | Buffer, fault: DemoFault | undefined): Promise<void> {
    if (fault?.kind === 'status') return this.#refuse(fault.status);
    if (fault?.kind === 'html') return this.#body(502, { 'content-type': 'text/html' }, page);
    await this.#wait(durationsMs.start).catch(() => undefined);
    if (!this.#gone.signal.aborted) this.#body(200, { 'content-type': type }, body);
  }

  async #answer(answer: ChatAnswer, isStream: boolean, fault: DemoFault['kind'] | undefined): Promise<void> {
    if (fault === 'slow') await this.#wait(slowStart);
    const head = isStream ? eventStream : json;
    if (fault === 'empty') this.#body(200, head, '');
    else if (fault === 'stall') this.#response.writeHead(200, head).flushHeaders();
    else if (isStream) await this.#stream(answer.chunks(), fault);
    else await this.#whole(answer, fault);
  }

  #refuse(status: number): void {
    const retry: Record<string, string> = status === 429 ? { 'retry-after': String(retryAfter) } : {};
    this.#body(status, { ...json, ...retry }, JSON.stringify(writeChatError(status, message)));
  }

  async #whole(answer: ChatAnswer, fault: DemoFault['kind'] | undefined): Promise<void> {
    await this.#wait(answer.chunks().reduce((sum, { after }) => sum + durationOf(after), 0));
    const isError = fault === 'error-event' || fault === 'error-midway';
    const body = JSON.stringify(isError ? writeChatError(500, message) : answer.whole());
    if (fault !== 'cut' && fault !== 'stall-midway') return this.#body(200, json, body);
    this.#response.writeHead(200, { ...json, 'content-length': Buffer.byteLength(body) });
    await this.#write(body.slice(0, body.length / 2));
    if (fault === 'cut') this.#cut();
  }

  async #stream(chunks: readonly TimedChunk[], fault: DemoFault['kind'] | undefined): Promise<void> {
    this.#response.writeHead(200, eventStream).flushHeaders();
    const end = endOf(chunks, fault);
    for (const { data, after } of chunks.slice(0, end)) {
      await this.#wait(durationOf(after));
      await this.#write(formatEvent(data));
    }
    if (fault === 'stall-midway') return;
    if (fault === 'cut') this.#cut();
    else this.#response.end(end < chunks.length ? formatEvent(writeChatError(500, message)) : '');
  }

  async #wait(milliseconds: number): Promise<void> {
    const time = milliseconds * this.#delayFactor;
    if (time > 0) await wait(time, undefined, { signal: this.#gone.signal });
  }

  async #write(chunk: string): Promise<void> {
    this.#gone.signal.throwIfAborted();
    if (!this.#response.write(chunk)) await once(this.#response, 'drain', { signal: this.#gone.signal });
  }

  #cut(): void {
    this.#response.socket?.destroySoon();
  }

  #body(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer): void {
    this.#response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  }
}

function durationOf(after: TimedChunk['after']): number {
  return after === undefined ? 0 : durationsMs[after];
}

/** Number of chunks to send: none for an immediate error, half of the content for a break, otherwise all. */
function endOf(chunks: readonly TimedChunk[], fault: DemoFault['kind'] | undefined): number {
  if (fault === 'error-event') return 0;
  if (fault !== 'cut' && fault !== 'error-midway' && fault !== 'stall-midway') return chunks.length;
  const first = chunks.findIndex(isContent);
  return first + Math.floor(chunks.filter(isContent).length / 2) + 1;
}

function isContent({ after }: TimedChunk): boolean {
  return after === 'token' || after === 'thinking';
}

function formatEvent(data: TimedChunk['data']): string {
  return `data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`;
}
