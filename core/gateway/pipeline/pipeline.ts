import { Readable } from 'node:stream';
import { defaultStageTimeout } from '#core/config/sections/core-sections.ts';
import { GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import type { Logger } from '#core/platform/logger.ts';
import { waitForFirst, notSettled, withDeadline } from '#core/platform/timing/deadline.ts';
import { LineThrottle } from '#core/platform/timing/throttle.ts';
import { readChangedContent } from './changed-body.ts';
import { checkReply, describeValue } from './check-reply.ts';
import type { Exchange } from './exchange.ts';
import { renderError } from './render-error.ts';
import { findBodyError, discard, type Reply, tolerateErrors } from './reply.ts';
import type { StageMoment } from './stage-fault.ts';
import type { Observer, Outcome, Stage } from './stage.ts';
import { Watchdog } from './watchdog.ts';

const reminderIntervalMs = 60_000; // per kind of stage failure
const abandonTimeoutMs = 1_000;
const releaseTimeoutMs = 5_000;

export interface NamedStage {
  readonly name: string;
  readonly stage: Stage;
}

interface Owner {
  readonly owner: string; // `stage "cache"`
  readonly timeout: number; // seconds
}

interface StageEntry extends Owner, NamedStage {}

interface Deferral extends Owner {
  readonly answer: (exchange: Exchange) => Reply | Promise<Reply>;
}

/**
 * An ordered, immutable list of stages, created from one configuration. A reload creates a new pipeline. Exchanges in flight finish on the
 * pipeline that they started with, and `retire` releases the old pipeline after the last of them.
 *
 * Every exchange goes through `start`, `answer` and `finish`, once each, in this order.
 */
export class Pipeline {
  readonly #stages: readonly StageEntry[];
  readonly #log: Logger;
  readonly #startEntries: readonly StageEntry[];
  readonly #holdEntries: readonly StageEntry[];
  readonly #doneEntries: readonly StageEntry[];
  readonly #stageTimeout: number;
  readonly #watchdog = new Watchdog();
  readonly #failureThrottle = new LineThrottle(reminderIntervalMs);
  #exchangesInFlight = 0;
  #lastExchange: PromiseWithResolvers<void> | undefined; // created by `retire`

  /** @param stageTimeout seconds allowed for a moment of a stage, unless the stage states a longer timeout */
  constructor(
    stages: readonly NamedStage[],
    log: Logger,
    observers: Iterable<Observer> = [],
    stageTimeout = defaultStageTimeout,
  ) {
    this.#stages = stages.map(({ name, stage }) => toEntry(name, stage, stageTimeout));
    this.#log = log;
    this.#stageTimeout = stageTimeout;
    this.#holdEntries = this.#stages.filter(({ stage }) => stage.hold !== undefined);
    const entries = [
      ...this.#stages,
      ...[...observers].map((observer) => toEntry(observer.name, observer as Stage, stageTimeout)),
    ];
    this.#startEntries = entries.filter(({ stage }) => stage.start !== undefined);
    this.#doneEntries = entries.filter(({ stage }) => stage.done !== undefined);
  }

  get exchangesInFlight(): number {
    return this.#exchangesInFlight;
  }

  /** Names of the stages that change state that outlives this pipeline. */
  get activatingStages(): string[] {
    return this.#stages.filter(({ stage }) => stage.activate !== undefined).map(({ name }) => name);
  }

  /** See `Stage.accountOf`; undefined if no stage provides it. */
  get accountOf(): Stage['accountOf'] {
    return this.#stages.find(({ stage }) => stage.accountOf !== undefined)?.stage.accountOf;
  }

  /** Lets stages change state that outlives this pipeline. Called once, when the pipeline starts serving. */
  activate(): void {
    for (const { name, stage } of this.#stages) {
      try {
        stage.activate?.();
      } catch (error) {
        this.#log.error(`stage "${name}" failed in activate`, error);
      }
    }
  }

  start(exchange: Exchange): void {
    this.#exchangesInFlight++;
    for (const { name, stage } of this.#startEntries) {
      try {
        stage.start?.(exchange);
      } catch (error) {
        this.#logFailure(`stage "${name}" failed in start`, error);
      }
    }
  }

  /** Runs `enter` in order and `leave` in reverse. Never rejects, because refusals and failures become replies. */
  async answer(exchange: Exchange): Promise<Reply> {
    let enteredCount = 0;
    let reply: Reply | undefined;
    let deferral: Deferral | undefined;
    try {
      while (enteredCount < this.#stages.length && reply === undefined) {
        const entry = this.#stages[enteredCount] as StageEntry;
        const pending = entry.stage.enter?.(exchange);
        const settled = pending instanceof Promise ? await this.#wait(pending, entry, 'enter', exchange) : pending;
        const result = settled ?? undefined; // a stage without types may return null
        enteredCount++;
        if (exchange.isAborted) {
          if (typeof result === 'object') discard(result);
          throw exchange.abortReason;
        }
        if (typeof result === 'function') deferral ??= { answer: result, owner: entry.owner, timeout: entry.timeout };
        else if (result !== undefined) {
          reply = this.#accept(exchange, result, entry, 'enter');
          if (entry.stage.keepsContent !== true) readChangedContent(exchange, reply);
        }
      }
      if (reply === undefined) {
        deferral ??= this.#deferToEndpoint(exchange);
        reply = await this.#runDeferred(exchange, deferral);
      }
    } catch (error) {
      const { owner = 'the pipeline' } = this.#stages[enteredCount] ?? deferral ?? {};
      reply = this.#renderFailure(exchange, error, owner);
    }
    return this.#leave(exchange, reply, enteredCount);
  }

  async finish(exchange: Exchange, outcome: Outcome): Promise<void> {
    for (const entry of this.#doneEntries) {
      try {
        const pending = entry.stage.done?.(exchange, outcome);
        if (pending instanceof Promise) await this.#wait(pending, entry, 'done', exchange);
      } catch (error) {
        this.#logFailure(`${entry.owner} failed in done`, error);
      }
    }
    this.#exchangesInFlight--;
    if (this.#exchangesInFlight === 0) this.#lastExchange?.resolve();
  }

  /**
   * Waits for the exchanges in flight, then releases the stages' resources. After the timeout, running stages are abandoned, so that at
   * least the exchange's other stages run `done`.
   */
  async retire(timeoutMs = Infinity): Promise<void> {
    this.#lastExchange ??= Promise.withResolvers();
    if (this.#exchangesInFlight > 0 && (await waitForFirst([this.#lastExchange.promise], timeoutMs)) === notSettled) {
      this.#log.error(`${this.#exchangesInFlight} requests have not ended; abandoning their stages`);
      this.#watchdog.abandonAll();
      await waitForFirst([this.#lastExchange.promise], abandonTimeoutMs);
    }
    for (const { name, stage } of this.#stages.toReversed()) {
      try {
        const released = Promise.resolve(stage[Symbol.asyncDispose]?.());
        await withDeadline(released, releaseTimeoutMs, `not finished after ${releaseTimeoutMs / 1000} s`);
      } catch (error) {
        this.#log.error(`stage "${name}" failed to release its resources`, error);
      }
    }
  }

  /** Logs a failure inside the gateway with its stack, at most once a minute per owner and throwing line. */
  reportFailure({ id }: Exchange, owner: string, thrown: unknown): void {
    const suffix = this.#failureThrottle.admit(owner, thrown);
    if (suffix === undefined) return;
    const message = `request ${id} failed inside the gateway${suffix}`;
    if (thrown instanceof Error) this.#log.error(message, thrown);
    else this.#log.error(`${message}: ${owner} threw ${describeValue(thrown)}, which is not an Error`);
  }

  #logFailure(message: string, error: unknown): void {
    const suffix = this.#failureThrottle.admit(message, error);
    if (suffix !== undefined) this.#log.error(message + suffix, error);
  }

  #deferToEndpoint({ endpoint }: Exchange): Deferral {
    const { name, method, path, answer } = endpoint;
    if (answer !== undefined) return { answer, owner: `endpoint "${name}"`, timeout: this.#stageTimeout };
    throw new GatewayError('not_supported', `This gateway does not serve ${method} ${path}.`);
  }

  async #runDeferred(exchange: Exchange, deferral: Deferral): Promise<Reply> {
    const pending = deferral.answer(exchange);
    const reply = pending instanceof Promise ? await this.#wait(pending, deferral, 'answer', exchange) : pending;
    return this.#accept(exchange, reply, deferral, 'answer');
  }

  /** Never rejects. */
  #runHold(exchange: Exchange, entry: StageEntry): Promise<void> | undefined {
    const onFailure = (error: unknown) => {
      if (!exchange.isAborted) this.#logFailure(`${entry.owner} failed in hold`, error);
    };
    try {
      const pending = entry.stage.hold?.(exchange);
      return pending && this.#wait(pending, entry, 'hold', exchange).catch(onFailure);
    } catch (error) {
      onFailure(error);
      return undefined;
    }
  }

  /** Runs `hold` of all stages for an early reply, which is sent before the reply of `answer`. Never rejects. */
  async hold(exchange: Exchange, earlyReply: Reply): Promise<void> {
    tolerateErrors(earlyReply);
    for (const entry of this.#holdEntries) await this.#runHold(exchange, entry);
  }

  async #leave(exchange: Exchange, firstReply: Reply, enteredCount: number): Promise<Reply> {
    for (const entry of this.#holdEntries) {
      const hold = this.#runHold(exchange, entry);
      if (hold === undefined) continue;
      // The stream may fail before it is read.
      tolerateErrors(firstReply);
      await hold;
    }
    let reply = this.#replaceFailedStream(exchange, firstReply);
    for (let index = enteredCount - 1; index >= 0; index--) {
      const entry = this.#stages[index] as StageEntry;
      if (entry.stage.leave === undefined) continue;
      const previous = reply;
      try {
        const pending = entry.stage.leave(exchange, previous);
        const result = pending instanceof Promise ? await this.#wait(pending, entry, 'leave', exchange) : pending;
        const changedReply = this.#accept(exchange, result ?? previous, entry, 'leave', previous);
        reply = this.#replaceFailedStream(exchange, changedReply, previous);
        if (reply.body !== previous.body && entry.stage.keepsContent !== true) readChangedContent(exchange, reply);
      } catch (error) {
        discard(previous);
        reply = this.#renderFailure(exchange, error, entry.owner);
      }
    }
    return reply;
  }

  #wait<T>(work: Promise<T>, { owner, timeout }: Owner, moment: StageMoment['moment'], exchange: Exchange): Promise<T> {
    if (timeout === Infinity) return work;
    return this.#watchdog.wait(work, { owner, moment }, timeout, exchange, discardLate);
  }

  #accept(
    exchange: Exchange,
    value: unknown,
    { owner, timeout }: Owner,
    moment: StageMoment['moment'],
    previous?: Reply,
  ): Reply {
    const reply = checkReply(value, { owner, moment }, previous);
    const { body } = reply;
    // A body has a timeout even if its stage has none.
    if (body instanceof Readable && body !== previous?.body)
      exchange.bodyLayers.add(body, owner, Number.isFinite(timeout) ? timeout : this.#stageTimeout);
    return reply;
  }

  #replaceFailedStream(exchange: Exchange, reply: Reply, previous = reply): Reply {
    tolerateErrors(reply);
    const bodyError = findBodyError(reply, previous);
    if (bodyError === undefined) return reply;
    discard(reply);
    return this.#renderFailure(exchange, exchange.abortReason ?? bodyError, exchange.bodyLayers.failedOwner);
  }

  #renderFailure(exchange: Exchange, thrown: unknown, owner = 'the pipeline'): Reply {
    const error = toGatewayError(thrown);
    // Errors thrown because the client disconnected are not failures.
    if (!exchange.isClientGone) {
      if (error.code === 'internal_error') this.reportFailure(exchange, owner, thrown);
      exchange.fail(error);
    }
    return renderError(error, exchange);
  }
}

function toEntry(name: string, stage: Stage, timeout: number): StageEntry {
  return { name, stage, owner: `stage "${name}"`, timeout: Math.max(timeout, stage.timeout ?? 0) };
}

function discardLate(result: unknown): void {
  if (typeof result === 'object' && result !== null && 'body' in result) discard(result as Reply);
}
