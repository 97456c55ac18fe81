import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { ChatAnswer, ModelWork, TimedChunk } from './chat-answer.ts';
import { createChatError } from './chat-error.ts';
import type { DemoFault } from './fault.ts';

const failureMessage = 'The demo upstream failed, as requested.';
const errorPage =
  '<!doctype html>\n<title>502 Bad Gateway</title>\n<h1>502 Bad Gateway</h1>\n<p>The demo upstream sends this page, as requested.</p>\n';
const eventStreamHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } as const;
const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' } as const;
const retryAfterSeconds = 2;
// These durations yield about 65 tokens per second.
const durationsMs = { start: 250, thinking: 900, token: 15 } as const satisfies Record<ModelWork, number>;
const slowStartMs = 5_000;

/** Stops early if the client disconnects. */
export class DemoDelivery {
  readonly #response: ServerResponse;
  readonly #delayFactor: number;
  readonly #disconnect = new AbortController();

  constructor(response: ServerResponse, delayFactor: number) {
    this.#response = response;
    this.#delayFactor = delayFactor;
    response.once('close', () => this.#disconnect.abort());
  }

  async send(answer: ChatAnswer, isStream: boolean, fault: DemoFault | undefined): Promise<void> {
    try {
      if (fault?.kind === 'status') this.#sendError(fault.status);
      else if (fault?.kind === 'html') this.#sendBody(502, { 'content-type': 'text/html' }, errorPage);
      else await this.#sendAnswer(answer, isStream, fault?.kind);
    } catch (error) {
      if (!this.#disconnect.signal.aborted) throw error;
    }
  }

  async sendOther(type: string, body: string | Buffer, fault: DemoFault | undefined): Promise<void> {
    if (fault?.kind === 'status') return this.#sendError(fault.status);
    if (fault?.kind === 'html') return this.#sendBody(502, { 'content-type': 'text/html' }, errorPage);
    await this.#wait(durationsMs.start).catch(() => undefined);
    if (!this.#disconnect.signal.aborted) this.#sendBody(200, { 'content-type': type }, body);
  }

  async #sendAnswer(answer: ChatAnswer, isStream: boolean, fault: DemoFault['kind'] | undefined): Promise<void> {
    if (fault === 'slow') await this.#wait(slowStartMs);
    const head = isStream ? eventStreamHeaders : jsonHeaders;
    if (fault === 'empty') this.#sendBody(200, head, '');
    else if (fault === 'stall') this.#response.writeHead(200, head).flushHeaders();
    else if (isStream) await this.#sendStream(answer.createChunks(), fault);
    else await this.#sendComplete(answer, fault);
  }

  #sendError(status: number): void {
    const retryHeaders: Record<string, string> = status === 429 ? { 'retry-after': String(retryAfterSeconds) } : {};
    this.#sendBody(
      status,
      { ...jsonHeaders, ...retryHeaders },
      JSON.stringify(createChatError(status, failureMessage)),
    );
  }

  async #sendComplete(answer: ChatAnswer, fault: DemoFault['kind'] | undefined): Promise<void> {
    await this.#wait(answer.createChunks().reduce((sum, { workBefore }) => sum + findDuration(workBefore), 0));
    const isError = fault === 'error-event' || fault === 'error-midway';
    const body = JSON.stringify(isError ? createChatError(500, failureMessage) : answer.createResponse());
    if (fault !== 'cut' && fault !== 'stall-midway') return this.#sendBody(200, jsonHeaders, body);
    this.#response.writeHead(200, { ...jsonHeaders, 'content-length': Buffer.byteLength(body) });
    await this.#write(body.slice(0, body.length / 2));
    if (fault === 'cut') this.#closeConnection();
  }

  async #sendStream(chunks: readonly TimedChunk[], fault: DemoFault['kind'] | undefined): Promise<void> {
    this.#response.writeHead(200, eventStreamHeaders).flushHeaders();
    const end = countChunksToSend(chunks, fault);
    for (const { data, workBefore } of chunks.slice(0, end)) {
      await this.#wait(findDuration(workBefore));
      await this.#write(formatEvent(data));
    }
    if (fault === 'stall-midway') return;
    if (fault === 'cut') this.#closeConnection();
    else this.#response.end(end < chunks.length ? formatEvent(createChatError(500, failureMessage)) : '');
  }

  async #wait(milliseconds: number): Promise<void> {
    const delayMs = milliseconds * this.#delayFactor;
    if (delayMs > 0) await wait(delayMs, undefined, { signal: this.#disconnect.signal });
  }

  async #write(chunk: string): Promise<void> {
    this.#disconnect.signal.throwIfAborted();
    if (!this.#response.write(chunk)) await once(this.#response, 'drain', { signal: this.#disconnect.signal });
  }

  #closeConnection(): void {
    this.#response.socket?.destroySoon();
  }

  #sendBody(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer): void {
    this.#response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  }
}

function findDuration(workBefore: TimedChunk['workBefore']): number {
  return workBefore === undefined ? 0 : durationsMs[workBefore];
}

function countChunksToSend(chunks: readonly TimedChunk[], fault: DemoFault['kind'] | undefined): number {
  if (fault === 'error-event') return 0;
  if (fault !== 'cut' && fault !== 'error-midway' && fault !== 'stall-midway') return chunks.length;
  const first = chunks.findIndex(isContent);
  return first + Math.floor(chunks.filter(isContent).length / 2) + 1;
}

function isContent({ workBefore }: TimedChunk): boolean {
  return workBefore === 'token' || workBefore === 'thinking';
}

function formatEvent(data: TimedChunk['data']): string {
  return `data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`;
}
