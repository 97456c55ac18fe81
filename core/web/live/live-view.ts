import { hash } from 'node:crypto';
import type { Logger } from '#core/platform/logger.ts';
import { Backoff } from '#core/platform/timing/backoff.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { PageError } from '../pages/page-error.ts';
import { type LiveParts, Redirect } from '../pages/page.ts';
import { formatEvent, type LiveStream, type RenderedPart } from './live-stream.ts';

const minIntervalMs = 1_000;
const renderTimeoutMs = 10_000;
const retriesMs = { min: 1_000, max: 10_000 };
const failureLog = new Throttle(60_000);

type LiveValues = Redirect | object;

/** Computes and renders a page, for one stream of a view. */
export interface LiveSource {
  values(): Promise<LiveValues>;
  /** Renders these templates (paths by part). Returns the HTML by part. */
  render(templates: Readonly<Record<string, string>>, values: object): ReadonlyMap<string, string>;
}

interface LiveViewOptions {
  readonly path: string;
  readonly live: LiveParts;
  readonly log: Logger;
  readonly enqueue: (render: () => Promise<void>, isRoutine: boolean) => void; // routine ones run after those that a change triggered
  readonly dequeue: (render: () => Promise<void>) => void;
}

/** Renders a page once for all streams that show the same content, at most once per interval. */
export class LiveView {
  readonly #options: LiveViewOptions;
  readonly #streams = new Map<LiveStream, LiveSource>(); // in opening order
  readonly #laggingStreams = new Set<LiveStream>();
  readonly #backoff = new Backoff(retriesMs);
  #retryAfterMs = 0; // 0 unless the last rendering failed
  #timer: NodeJS.Timeout | undefined;
  #routineTimer: NodeJS.Timeout | undefined;
  #renderedAt = Number.NEGATIVE_INFINITY;
  #isDirty = false;
  #isRendering = false;

  constructor(options: LiveViewOptions) {
    this.#options = options;
    const { everySeconds } = options.live;
    if (everySeconds === undefined) return;
    this.#routineTimer = setInterval(() => this.#refresh(), everySeconds * 1_000).unref();
  }

  get isEmpty(): boolean {
    return this.#streams.size === 0;
  }

  /** The stream soon receives the parts that it does not have yet. */
  add(stream: LiveStream, source: LiveSource): void {
    this.#streams.set(stream, source);
    stream.onDrained = () => {
      if (this.#laggingStreams.delete(stream)) this.#isDirty = true;
      if (this.#isDirty) this.#schedule();
    };
    this.invalidate();
  }

  remove(stream: LiveStream): void {
    this.#streams.delete(stream);
    this.#laggingStreams.delete(stream);
    if (this.isEmpty) this.close();
  }

  /** Call this if the content may have changed. */
  invalidate(): void {
    this.#isDirty = true;
    this.#schedule();
  }

  #refresh(): void {
    if (this.#isDirty || this.#timer !== undefined || this.#isRendering || !this.#hasReader()) return;
    this.#options.enqueue(this.#render, true);
  }

  close(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#routineTimer);
    this.#timer = this.#routineTimer = undefined;
    this.#options.dequeue(this.#render);
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isRendering || !this.#hasReader()) return;
    const pause = Math.max(this.#retryAfterMs, minIntervalMs);
    const delay = Math.max(0, this.#renderedAt + pause - performance.now());
    this.#timer = setTimeout(() => this.#options.enqueue(this.#render, false), delay).unref();
  }

  /** If no stream is ready, the first one that becomes ready schedules a rendering. */
  #hasReader(): boolean {
    return this.#streams.keys().some((stream) => stream.isReady);
  }

  readonly #render = async (): Promise<void> => {
    this.#timer = undefined;
    const [, source] = this.#streams.entries().find(([stream]) => stream.isReady) ?? [];
    if (source === undefined) return;
    this.#isRendering = true;
    this.#isDirty = false;
    this.#renderedAt = performance.now();
    try {
      await this.#send(source);
      this.#backoff.reset();
      this.#retryAfterMs = 0;
    } catch (error) {
      this.#fail(error);
    }
    this.#isRendering = false;
    if (this.#isDirty) this.#schedule();
  };

  async #send(source: LiveSource): Promise<void> {
    const values = await withDeadline(source.values(), renderTimeoutMs, `no values within ${renderTimeoutMs} ms`);
    if (values instanceof Redirect) return this.#forEachStream((stream) => stream.redirect(values.path));
    const rendered = source.render(this.#options.live.parts, values);
    const parts = new Map([...rendered].map(([name, html]) => [name, createPart(name, html)]));
    this.#forEachStream((stream) => {
      if (stream.isReady) stream.send(parts);
      else this.#laggingStreams.add(stream);
    });
  }

  #fail(error: unknown): void {
    if (error instanceof PageError && error.status < 500) return this.#forEachStream((stream) => stream.end('gone'));
    if (failureLog.tryPass()) this.#options.log.error(`live parts of ${this.#options.path} cannot be rendered`, error);
    this.#forEachStream((stream) => stream.reportStopped());
    this.#retryAfterMs = this.#backoff.next();
    this.#isDirty = true;
  }

  #forEachStream(act: (stream: LiveStream) => void): void {
    for (const stream of this.#streams.keys()) act(stream);
  }
}

function createPart(name: string, html: string): RenderedPart {
  return { version: hash('sha256', removeCountdowns(html), 'base64url').slice(0, 8), event: formatEvent(name, html) };
}

/** The page's script updates countdowns, so a passing second is not a change. */
function removeCountdowns(html: string): string {
  return html.replaceAll(/( data-countdown=")\d+|(<span data-(?:clock|count)>)[^<]*/g, '$1$2');
}
