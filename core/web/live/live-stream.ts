import { Readable } from 'node:stream';

/** A rendered part of a page. */
export interface RenderedPart {
  /** Short hash of the HTML. */
  readonly version: string;
  /** The event that replaces the part. */
  readonly event: string;
}

/** Reason for ending a stream permanently, shown by the page's script. */
type LiveEnd = 'signed_out' | 'too_many' | 'gone';

/** Formats an event; its data may span several lines. */
export function formatEvent(name: string, data: string): string {
  return `event: ${name}\ndata: ${data.replaceAll(/\r\n?|\n/g, '\ndata: ')}\n\n`;
}

/**
 * The stream of one tab. It buffers the output of one rendering at most: it skips renderings until the client has read the buffer, and then
 * sends the newest state.
 *
 * An event id contains the versions of all parts in order, so a page that reconnects to any instance receives the parts that have changed
 * since.
 */
export class LiveStream {
  readonly body: Readable;
  /** Called when the client has read everything. */
  onDrained: () => void = () => {};
  /** Called once, when the stream has ended. */
  onClose: () => void = () => {};
  readonly #partNames: readonly string[];
  readonly #versions = new Map<string, string>();
  #isDrained = true;
  #isStopped = false;
  #missedBeats = 0;
  #hasEnded = false;

  /** @param lastEventId the last event id that the page received; '' for a newly loaded page */
  constructor(names: readonly string[], lastEventId: string) {
    this.#partNames = names;
    const versions = lastEventId.split('.');
    if (versions.length === names.length)
      for (const [index, name] of names.entries()) this.#versions.set(name, versions[index] ?? '');
    this.body = new Readable({
      highWaterMark: 1,
      read: () => this.#markDrained(),
      destroy: (_, done) => {
        done(null);
        this.#markEnded();
      },
    });
  }

  /** False until the client has read the last output, and after the stream has ended. */
  get isReady(): boolean {
    return this.#isDrained && !this.#hasEnded;
  }

  /**
   * Sends the first bytes, which flush the response headers.
   *
   * @param build current build of the assets
   * @param retry delay of reconnects, ms
   */
  open(build: string, retry: number): void {
    this.#write(`retry: ${Math.round(retry)}\n${formatEvent('live-open', build)}`);
  }

  /** Sends the parts that changed since the page last received them. */
  send(parts: ReadonlyMap<string, RenderedPart>): void {
    if (!this.isReady) return;
    const changed = [...parts].filter(([name, { version }]) => this.#versions.get(name) !== version);
    for (const [name, { version }] of changed) this.#versions.set(name, version);
    const events = changed.map(([, { event }]) => event);
    if (this.#isStopped) events.unshift(formatEvent('live-state', 'live'));
    this.#isStopped = false;
    if (events.length === 0) return;
    const id = this.#partNames.map((name) => this.#versions.get(name) ?? '').join('.');
    // The id belongs to the last event, because the page has all parts only then.
    this.#write(`${events.slice(0, -1).join('')}id: ${id}\n${events.at(-1)}`);
  }

  /** Reports that the page cannot be rendered at the moment. */
  reportStopped(): void {
    if (this.#isStopped || !this.isReady) return;
    this.#isStopped = true;
    this.#write(formatEvent('live-state', 'stopped'));
  }

  /** Sends a comment to keep proxies from closing the stream. Ends a stream whose client has not read anything for two heartbeats. */
  sendHeartbeat(): void {
    if (this.isReady) {
      this.#missedBeats = 0;
      this.#write(':\n\n');
    } else if (++this.#missedBeats > 1) {
      this.close();
    }
  }

  /** Makes the page load the path. */
  redirect(path: string): void {
    this.#finish(formatEvent('live-redirect', path));
  }

  /** Ends the stream; the page does not reconnect. */
  end(reason: LiveEnd): void {
    this.#finish(formatEvent('live-end', reason));
  }

  /** Ends the stream; the page reconnects. */
  close(): void {
    this.body.destroy();
  }

  /** Like `close`, but waits until the client has read everything. */
  finish(): void {
    this.#finish('');
  }

  #finish(lastEvent: string): void {
    if (this.#hasEnded) return;
    if (!this.#isDrained) return this.close();
    if (lastEvent !== '') this.#write(lastEvent);
    this.body.push(null);
    this.#markEnded();
  }

  #markEnded(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.onClose();
  }

  #write(text: string): void {
    this.#isDrained = false;
    this.body.push(text);
  }

  #markDrained(): void {
    if (this.#isDrained || this.#hasEnded) return;
    this.#isDrained = true;
    this.onDrained();
  }
}
