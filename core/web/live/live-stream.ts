import { Readable } from 'node:stream';

/** A part as it has been rendered. */
export interface RenderedPart {
  /** Short hash of the HTML. */
  readonly version: string;
  /** The event that replaces the part. */
  readonly event: string;
}

/** Reason for a permanent end; the page's script shows it. */
type LiveEnd = 'signed_out' | 'too_many' | 'gone';

/** An event of one stream, its data on as many lines as it needs. */
export function formatEvent(name: string, data: string): string {
  return `event: ${name}\ndata: ${data.replaceAll(/\r\n?|\n/g, '\ndata: ')}\n\n`;
}

/**
 * The stream of one tab. It buffers at most one turn's output: until that is read, nothing is added, and then the newest state is
 * sent.
 *
 * An event id contains the versions of all parts in order, so that a page that reconnects, to any instance, gets the parts that
 * have changed since.
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

  /** @param lastEventId that the page has seen; '' for a page that has just been loaded */
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

  /** False while the last output has not been read. */
  get isReady(): boolean {
    return this.#isTaken && !this.#isOver;
  }

  /**
   * The first bytes, so that the answer's head is sent.
   *
   * @param build of the assets that pages load now
   * @param retry ms after which the page reconnects
   */
  open(build: string, retry: number): void {
    this.#write(`retry: ${Math.round(retry)}\n${formatEvent('live-open', build)}`);
  }

  /** Sends the parts that the page does not have. */
  send(parts: ReadonlyMap<string, RenderedPart>): void {
    if (!this.isReady) return;
    const changed = [...parts].filter(([name, { version }]) => this.#versions.get(name) !== version);
    for (const [name, { version }] of changed) this.#versions.set(name, version);
    const events = changed.map(([, { event }]) => event);
    if (this.#isStopped) events.unshift(formatEvent('live-state', 'live'));
    this.#isStopped = false;
    if (events.length === 0) return;
    const id = this.#names.map((name) => this.#versions.get(name) ?? '').join('.');
    // The id counts once the page has all of them.
    this.#write(`${events.slice(0, -1).join('')}id: ${id}\n${events.at(-1)}`);
  }

  /** Reports that the page cannot be rendered at the moment. */
  stop(): void {
    if (this.#isStopped || !this.isReady) return;
    this.#isStopped = true;
    this.#write(formatEvent('live-state', 'stopped'));
  }

  /** Keeps proxies from closing the stream. Ends a stream whose client has read nothing since the last beats. */
  beat(): void {
    if (this.isReady) {
      this.#missedBeats = 0;
      this.#write(':\n\n');
    } else if (++this.#missedBeats > 1) this.close();
  }

  /** Makes the page load another one. */
  redirect(path: string): void {
    this.#finish(formatEvent('live-redirect', path));
  }

  /** Ends it for good. */
  end(reason: LiveEnd): void {
    this.#finish(formatEvent('live-end', reason));
  }

  /** Ends it; the page reconnects. */
  close(): void {
    this.body.destroy();
  }

  /** As `close`, once the client has read everything. */
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
