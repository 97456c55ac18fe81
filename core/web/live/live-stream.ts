import { Readable } from 'node:stream';

/** A rendered part of a page. */
export interface RenderedPart {
  /** Short hash of the HTML. */
  readonly version: string;
  /** The event that replaces the part. */
  readonly event: string;
}

/** Reason for a permanent end; the page's script shows it. */
type LiveEnd = 'signed_out' | 'too_many' | 'gone';

/** Formats an event; its data may span several lines. */
export function formatEvent(name: string, data: string): string {
  return `event: ${name}\ndata: ${data.replaceAll(/\r\n?|\n/g, '\ndata: ')}\n\n`;
}

/**
 * The stream of one tab. It buffers the output of at most one turn: until the client has read it nothing is added, and then the newest
 * state is sent.
 *
 * An event id contains the versions of all parts in order, so a page that reconnects to any instance gets the parts that changed in
 * between.
 */
export class LiveStream {
  readonly body: Readable;
  /** Called when the client has read everything. */
  onTaken: () => void = () => {};
  onClose: () => void = () => {};
  readonly #names: readonly string[];
  readonly #versions = new Map<string, string>();
  #isTaken = true;
  #isStopped = false;
  #missedBeats = 0;
  #isOver = false;

  /** @param lastEventId last event id that the page received; '' for a page that has just been loaded */
  constructor(names: readonly string[], lastEventId: string) {
    this.#names = names;
    const versions = lastEventId.split('.');
    if (versions.length === names.length)
      for (const [index, name] of names.entries()) this.#versions.set(name, versions[index] ?? '');
    this.body = new Readable({
      highWaterMark: 1,
      read: () => this.#noteTaken(),
      destroy: (_, done) => {
        done(null);
        this.#leave();
      },
    });
  }

  /** False until the client has read the last output, and after the stream has ended. */
  get isReady(): boolean {
    return this.#isTaken && !this.#isOver;
  }

  /**
   * Sends the first bytes, so that the response headers are sent.
   *
   * @param build build of the assets that pages load now
   * @param retry ms after which the page reconnects
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
    const id = this.#names.map((name) => this.#versions.get(name) ?? '').join('.');
    // The id belongs to the last event: the page then has all parts.
    this.#write(`${events.slice(0, -1).join('')}id: ${id}\n${events.at(-1)}`);
  }

  /** Reports that the page cannot be rendered at the moment. */
  stop(): void {
    if (this.#isStopped || !this.isReady) return;
    this.#isStopped = true;
    this.#write(formatEvent('live-state', 'stopped'));
  }

  /** Keeps proxies from closing the stream. Ends a stream whose client has not read anything for two beats. */
  beat(): void {
    if (this.isReady) {
      this.#missedBeats = 0;
      this.#write(':\n\n');
    } else if (++this.#missedBeats > 1) this.close();
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

  #finish(last: string): void {
    if (this.#isOver) return;
    if (!this.#isTaken) return this.close();
    if (last !== '') this.#write(last);
    this.body.push(null);
    this.#leave();
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onClose();
  }

  #write(text: string): void {
    this.#isTaken = false;
    this.body.push(text);
  }

  #noteTaken(): void {
    if (this.#isTaken || this.#isOver) return;
    this.#isTaken = true;
    this.onTaken();
  }
}
