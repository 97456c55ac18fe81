import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { ReplyDecoder } from '../../canonical/codec.ts';
import type { GrammarGuard } from '../../canonical/guard.ts';
import type { ReplyObserver } from '../../formats/contract/pass-through.ts';

/** Reads the reasoning in a reply that passes through, beside its observer. */
export class WatchingObserver implements ReplyObserver {
  readonly endMark?: string;
  readonly #observer: ReplyObserver;
  readonly #decoder: ReplyDecoder;
  readonly #guard: GrammarGuard;

  /** @param guard reports the complete answer */
  constructor(observer: ReplyObserver, decoder: ReplyDecoder, guard: GrammarGuard) {
    this.#observer = observer;
    if (observer.endMark !== undefined) this.endMark = observer.endMark;
    this.#decoder = decoder;
    this.#guard = guard;
  }

  event(event: StreamEvent): void {
    this.#observer.event(event);
    if (event.data === undefined || this.#guard.isOver) return;
    this.#guard.push(this.#decoder.event(event.name, event.data));
    // Some vendors end without the last event of the format.
    if (this.#observer.isFinished) this.#guard.close();
  }

  whole(body: JsonObject): void {
    this.#observer.whole(body);
    this.#guard.push(this.#decoder.whole(body));
  }

  get hasContent(): boolean {
    return this.#observer.hasContent;
  }

  get isComplete(): boolean {
    return this.#observer.isComplete;
  }

  get isOver(): boolean {
    return this.#observer.isOver;
  }

  get isFinished(): boolean {
    return this.#observer.isFinished;
  }

  get failure(): GatewayError | undefined {
    return this.#observer.failure;
  }

  get usage(): Usage | undefined {
    return this.#observer.usage;
  }

  get finished(): JsonObject | undefined {
    return this.#observer.finished;
  }

  renderFailure(error: GatewayError, usage?: Usage): string {
    return this.#observer.renderFailure(error, usage);
  }
}
