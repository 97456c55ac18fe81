import { guardListener, runInBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { OtlpSpan } from './otlp.ts';
import type { SignalSender } from './signal-sender.ts';

const limits = { queue: 8_192, batch: 512, delayMs: 2_000 }; // queue and batch in spans

/** While the collector is unavailable, spans wait; above the limit they are dropped. */
export class SpanQueue implements AsyncDisposable {
  readonly #sender: SignalSender;
  readonly #log: Logger;
  readonly #waiting: OtlpSpan[] = [];
  readonly #timer: NodeJS.Timeout;
  #sending: Promise<void> | undefined;

  constructor(sender: SignalSender, log: Logger) {
    this.#sender = sender;
    this.#log = log;
    this.#timer = setInterval(
      guardListener(log, 'sending traces', () => this.#flush()),
      limits.delayMs,
    ).unref();
  }

  add(spans: readonly OtlpSpan[]): void {
    if (this.#waiting.length + spans.length > limits.queue) return this.#sender.countDropped(spans.length);
    this.#waiting.push(...spans);
    if (this.#waiting.length >= limits.batch) runInBackground(this.#log, 'sending traces', () => this.#flush());
  }

  #flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, limits.batch);
      if (!(await this.#sender.deliver(batch))) this.#sender.countDropped(batch.length);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }
}
