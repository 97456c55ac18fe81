import { setTimeout } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** How a request or a stream went that was not answered as it should. */
export interface Failure {
  readonly kind: 'request' | 'stream';
  readonly status: number;
  readonly contentType: string;
  /** The error, or the beginning of the body. */
  readonly text: string;
}

export interface LoadOptions {
  readonly url: string;
  readonly key: string;
  readonly requests: { readonly atOnce: number; readonly atLeast: number };
  readonly streams: { readonly atOnce: number; readonly atLeast: number };
}

/** Ms between two requests of one client. */
const pause = 100;

/** Requests and streams through a proxy, until `finish` is called and there have been enough. */
export class Load {
  readonly failures: Failure[] = [];
  requests = 0;
  streams = 0;
  readonly #options: LoadOptions;
  readonly #agent = new Agent({ connect: { rejectUnauthorized: false }, bodyTimeout: 60_000, headersTimeout: 60_000 });
  readonly #clients: Promise<void>[];
  #isFinishing = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    const { requests, streams } = options;
    this.#clients = [
      ...Array.from({ length: requests.atOnce }, () =>
        this.#repeat(
          () => this.requests++ < requests.atLeast,
          () => this.#ask('request'),
        ),
      ),
      ...Array.from({ length: streams.atOnce }, () =>
        this.#repeat(
          () => this.streams++ < streams.atLeast,
          () => this.#ask('stream'),
        ),
      ),
    ];
  }

  async finish(): Promise<void> {
    this.#isFinishing = true;
    await Promise.all(this.#clients);
    await this.#agent.close();
  }

  async #repeat(count: () => boolean, work: () => Promise<void>): Promise<void> {
    while (count() || !this.#isFinishing) {
      await work();
      await setTimeout(pause);
    }
  }

  async #ask(kind: Failure['kind']): Promise<void> {
    let status = 0;
    let contentType = '';
    let text = '';
    try {
      const answer = await request(`${this.#options.url}/v1/chat/completions`, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: { authorization: `Bearer ${this.#options.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'dp/rolled',
          stream: kind === 'stream',
          messages: [{ role: 'user', content: 'Hello' }],
        }),
      });
      status = answer.statusCode;
      contentType = String(answer.headers['content-type']);
      text = await answer.body.text();
      const isWhole = kind === 'request' ? text.includes('chat.completion') : text.trimEnd().endsWith('[DONE]');
      if (status === 200 && isWhole) return;
    } catch (error) {
      text = `${error instanceof Error ? error.message : String(error)} ${text}`;
    }
    this.failures.push({ kind, status, contentType, text: text.slice(0, 200) });
  }
}
