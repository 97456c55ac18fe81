import { Readable } from 'node:stream';
import { GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { renderError } from './render-error.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Exchange } from './exchange.ts';
import { readChangedBody } from './changed-body.ts';
import { checkReply, describeValue } from './check-reply.ts';
import { bodyErrorOf, discard, type Reply, tolerateErrors } from './reply.ts';
import type { StageMoment } from './stage-fault.ts';
import type { Observer, Outcome, Stage } from './stage.ts';
import { defaultStageTimeout } from '#core/config/sections/core-sections.ts';
import { firstOrTimeout, timedOut, withDeadline } from '#core/platform/timing/deadline.ts';
import { LineThrottle } from '#core/platform/timing/throttle.ts';
import { Watchdog } from './watchdog.ts';

const reminderIntervalMs = 60_000; // per kind of stage failure

const giveUpTimeoutMs = 1_000;

const releaseTimeoutMs = 5_000;

/** A stage with its name in gateway.yaml. */
export interface NamedStage {
  readonly name: string;
  readonly stage: Stage;
}

interface Watched {
  readonly owner: string; // `stage "cache"`
  readonly timeout: number; // seconds
}

interface WatchedStage extends Watched, NamedStage {}

interface Deferral {
  readonly answer: (exchange: Exchange) => Reply | Promise<Reply>;
  readonly watched: Watched;
}

/**
 * An ordered, immutable list of stages, created from one configuration. A reload creates a new one; exchanges in flight finish on the one
 * that they started with, and `retire` releases it after the last of them.
 *
 * Every exchange goes through `begin`, `answer` and `finish`, once each, in this order.
 */
export class Pipeline {
  readonly #stages: readonly WatchedStage[];
  readonly #log: Logger;
  readonly #starting: readonly WatchedStage[];
  readonly #holding: readonly WatchedStage[];
  readonly #ending: readonly WatchedStage[];
  readonly #stageTimeout: number;
  readonly #watchdog = new Watchdog();
  readonly #lines = new LineThrottle(reminderIntervalMs);
  #running = 0;
  #retired: PromiseWithResolvers<void> | undefined;

  /** @param stageTimeout seconds allowed for a moment of a stage, unless the stage states a longer time */
  constructor(
    stages: readonly NamedStage[],
    log: Logger,
    observers: Iterable<Observer> = [],
    stageTimeout = defaultStageTimeout,
  ) {
    this.#stages = stages.map(({ name, stage }) => watchStage(name, stage, stageTimeout));
    this.#log = log;
    this.#stageTimeout = stageTimeout;
    this.#holding = this.#stages.filter(({ stage }) => stage.hold !== undefined);
    const observing = [
      ...this.#stages,
      ...[...observers].map((observer) => watchStage(observer.name, observer as Stage, stageTimeout)),
    ];
    this.#starting = observing.filter(({ stage }) => stage.start !== undefined);
    this.#ending = observing.filter(({ stage }) => stage.done !== undefined);
  }

  get names(): string[] {
    return this.#stages.map(({ name }) => name);
  }

  /** Number of exchanges in flight. */
  get running(): number {
    return this.#running;
  }

  /** Names of the stages that change state outliving this pipeline. */
  get activating(): string[] {
    return this.#stages.filter(({ stage }) => stage.activate !== undefined).map(({ name }) => name);
  }

  /** Finds the account of a request, see `Stage.accountOf`. Undefined if no stage provides it. */
  get accountOf(): Stage['accountOf'] {
    return this.#stages.find(({ stage }) => stage.accountOf !== undefined)?.stage.accountOf;
  }

  /** Lets stages change state outliving this pipeline. Called once, when the pipeline starts serving. */
  activate(): void {
    for (const { name, stage } of this.#stages) {
      try {
        stage.activate?.();
      } catch (error) {
        this.#log.error(`stage "${name}" failed in activate`, error);
      }
    }
  }

  begin(exchange: Exchange): void {
    this.#running++;
    for (const { name, stage } of this.#starting) {
      try {
        stage.start?.(exchange);
      } catch (error) {
        this.#logFailure(`stage "${name}" failed in start`, error);
      }
    }
  }

  /** Runs `enter` in order and `leave` in reverse. Never throws: rejections and failures are replies too. */
  async answer(exchange: Exchange): Promise<Reply> {
    let entered = 0;
    let reply: Reply | undefined;
    let deferred: Deferral | undefined;
    try {
      while (entered < this.#stages.length && reply === undefined) {
        const watched = this.#stages[entered] as WatchedStage;
        const result = watched.stage.enter?.(exchange);
        const settled = result instanceof Promise ? await this.#wait(result, watched, 'enter', exchange) : result;
        entered++;
        if (exchange.isAborted) {
          if (typeof settled === 'object') discard(settled);
          throw exchange.abortReason;
        }
        if (typeof settled === 'function') deferred ??= { answer: settled, watched };
        else if (settled !== undefined && settled !== null) {
          reply = this.#accept(exchange, settled, watched, 'enter');
          if (watched.stage.keepsContent !== true) readChangedBody(exchange, reply);
        }
      }
      if (reply === undefined) {
        deferred ??= this.#endpointAnswer(exchange);
        reply = await this.#deferred(exchange, deferred);
      }
    } catch (error) {
      const { owner = 'the pipeline' } = this.#stages[entered] ?? deferred?.watched ?? {};
      reply = this.#refuse(exchange, error, owner);
    }
    return this.#leave(exchange, reply, entered);
  }

  /** Runs `done` for every stage. Exceptions are logged. */
  async finish(exchange: Exchange, outcome: Outcome): Promise<void> {
    for (const watched of this.#ending) {
      try {
        const result = watched.stage.done?.(exchange, outcome);
        if (result instanceof Promise) await this.#wait(result, watched, 'done', exchange);
      } catch (error) {
        this.#logFailure(`${watched.owner} failed in done`, error);
      }
    }
    this.#running--;
    if (this.#running === 0) this.#retired?.resolve();
  }

  /**
   * Waits for the exchanges in flight, then releases the stages' resources.
   *
   * @param within ms for the exchanges; then their stages are abandoned, so that at least the others are notified of the end
   */
  async retire(within = Infinity): Promise<void> {
    this.#retired ??= Promise.withResolvers();
    if (this.#running > 0 && (await firstOrTimeout([this.#retired.promise], within)) === timedOut) {
      this.#log.error(`${this.#running} requests have not ended; their stages are given up`);
      this.#watchdog.giveUpAll();
      await firstOrTimeout([this.#retired.promise], giveUpTimeoutMs);
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
    const more = this.#lines.pass(owner, thrown);
    if (more === undefined) return;
    const what = `request ${id} failed inside the gateway${more}`;
    if (thrown instanceof Error) this.#log.error(what, thrown);
    else this.#log.error(`${what}: ${owner} threw ${describeValue(thrown)}, which is not an Error`);
  }

  #logFailure(what: string, error: unknown): void {
    const more = this.#lines.pass(what, error);
    if (more !== undefined) this.#log.error(what + more, error);
  }

  #endpointAnswer({ endpoint }: Exchange): Deferral {
    const { name, method, path, answer } = endpoint;
    const watched = { owner: `endpoint "${name}"`, timeout: this.#stageTimeout };
    if (answer !== undefined) return { answer, watched };
    throw new GatewayError('not_supported', `This gateway does not serve ${method} ${path}.`);
  }

  async #deferred(exchange: Exchange, { answer, watched }: Deferral): Promise<Reply> {
    const result = answer(exchange);
    const reply = result instanceof Promise ? await this.#wait(result, watched, 'answer', exchange) : result;
    return this.#accept(exchange, reply, watched, 'answer');
  }

  /** Runs `hold` of a stage. Never rejects. */
  #runHold(exchange: Exchange, watched: WatchedStage): Promise<void> | undefined {
    const onFailure = (error: unknown) => {
      if (!exchange.isAborted) this.#logFailure(`${watched.owner} failed in hold`, error);
    };
    try {
      const held = watched.stage.hold?.(exchange);
      return held && this.#wait(held, watched, 'hold', exchange).catch(onFailure);
    } catch (error) {
      onFailure(error);
      return undefined;
    }
  }

  /** Runs `hold` of all stages for a reply that is sent before the reply of `answer`. Never rejects. */
  async hold(exchange: Exchange, early: Reply): Promise<void> {
    tolerateErrors(early);
    for (const watched of this.#holding) await this.#runHold(exchange, watched);
  }

  async #leave(exchange: Exchange, first: Reply, entered: number): Promise<Reply> {
    for (const watched of this.#holding) {
      const held = this.#runHold(exchange, watched);
      if (held === undefined) continue;
      // The stream may break before it is read.
      tolerateErrors(first);
      await held;
    }
    let reply = this.#unbroken(exchange, first);
    for (let index = entered - 1; index >= 0; index--) {
      const watched = this.#stages[index] as WatchedStage;
      if (watched.stage.leave === undefined) continue;
      const previous = reply;
      try {
        const result = watched.stage.leave(exchange, previous);
        const settled = result instanceof Promise ? await this.#wait(result, watched, 'leave', exchange) : result;
        reply = this.#unbroken(
          exchange,
          this.#accept(exchange, settled ?? previous, watched, 'leave', previous),
          previous,
        );
        if (reply.body !== previous.body && watched.stage.keepsContent !== true) readChangedBody(exchange, reply);
      } catch (error) {
        discard(previous);
        reply = this.#refuse(exchange, error, watched.owner);
      }
    }
    return reply;
  }

  #wait<T>(
    work: Promise<T>,
    { owner, timeout }: Watched,
    moment: StageMoment['moment'],
    exchange: Exchange,
  ): Promise<T> {
    if (timeout === Infinity) return work;
    return this.#watchdog.wait(work, { owner, moment }, timeout, exchange, discardLate);
  }

  /**
   * Checks a reply, and records the owner of its body on the exchange.
   *
   * @throws StageFault
   */
  #accept(
    exchange: Exchange,
    value: unknown,
    { owner, timeout }: Watched,
    moment: StageMoment['moment'],
    previous?: Reply,
  ): Reply {
    const reply = checkReply(value, { owner, moment }, previous);
    const { body } = reply;
    // Bodies are watched even if their stage is not.
    if (body instanceof Readable && body !== previous?.body)
      exchange.bodyLayers.add(body, owner, Number.isFinite(timeout) ? timeout : this.#stageTimeout);
    return reply;
  }

  /** The reply or, if its stream broke before anything was sent, an error reply. */
  #unbroken(exchange: Exchange, reply: Reply, previous = reply): Reply {
    tolerateErrors(reply);
    const broken = bodyErrorOf(reply, previous);
    if (broken === undefined) return reply;
    discard(reply);
    return this.#refuse(exchange, exchange.abortReason ?? broken, exchange.bodyLayers.broken);
  }

  /** @param owner the stage that threw; logged for values without a stack */
  #refuse(exchange: Exchange, thrown: unknown, owner = 'the pipeline'): Reply {
    const error = toGatewayError(thrown);
    if (error.code === 'internal_error' && !exchange.isClientGone) {
      this.reportFailure(exchange, owner, thrown);
    }
    // Errors thrown because the client disconnected are not failures.
    if (!exchange.isClientGone) exchange.fail(error);
    return renderError(error, exchange);
  }
}

function watchStage(name: string, stage: Stage, timeout: number): WatchedStage {
  return { name, stage, owner: `stage "${name}"`, timeout: Math.max(timeout, stage.timeout ?? 0) };
}

function discardLate(result: unknown): void {
  if (typeof result === 'object' && result !== null && 'body' in result) discard(result as Reply);
}
