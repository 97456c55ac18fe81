import { Readable } from 'node:stream';

export interface RenderedPart {
  readonly version: string; // short hash of the HTML
  readonly event: string; // replaces the part
}

type LiveEnd = 'signed_out' | 'too_many' | 'gone'; // for good; the page's script shows the reason

/** Formats an event. Its data may have several lines. */
export function formatEvent(name: string, data: string): string {
  return `event: ${name}\ndata: ${data.replaceAll(/\r\n?|\n/g, '\ndata: ')}\n\n`;
}

/**
 * The stream to one tab. It buffers at most one rendering: until the client has read it, further renderings are skipped; then the latest
 * state is sent.
 *
 * An event id contains the versions of all parts in order. A page that reconnects to any instance therefore receives only the parts that
 * have changed since.
 */
export class LiveStream {
  readonly body: Readable;
  onDrained: () => void = () => {}; // the client has read everything
  onClose: () => void = () => {}; // called once
  readonly #partNames: readonly string[];
  readonly #versions = new Map<string, string>();
  #isDrained = true;
  #isStopped = false;
  #missedBeats = 0;
  #hasEnded = false;

  /** @param lastEventId the last event id that the page received; '' if it was just loaded */
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

  /** False until the client has read the previous output, and after the stream has ended. */
  get isReady(): boolean {
    return this.#isDrained && !this.#hasEnded;
  }

  /** Sends the first bytes, which flush the headers. `build` identifies the assets; the page waits `retryMs` before it reconnects. */
  open(build: string, retryMs: number): void {
    this.#write(`retry: ${Math.round(retryMs)}\n${formatEvent('live-open', build)}`);
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
    // Only the last event gets the id, because the page does not have all parts before that.
    this.#write(`${events.slice(0, -1).join('')}id: ${id}\n${events.at(-1)}`);
  }

  /** Reports that the page cannot be rendered at the moment. */
  reportStopped(): void {
    if (this.#isStopped || !this.isReady) return;
    this.#isStopped = true;
    this.#write(formatEvent('live-state', 'stopped'));
  }

  /** Sends a comment, so that proxies do not close the stream. If the client has read nothing for two heartbeats, ends the stream. */
  sendHeartbeat(): void {
    if (this.isReady) {
      this.#missedBeats = 0;
      this.#write(':\n\n');
    } else if (++this.#missedBeats > 1) {
      this.close();
    }
  }

  redirect(path: string): void {
    this.#finish(formatEvent('live-redirect', path));
  }

  /** Ends the stream permanently; the page does not reconnect. */
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
