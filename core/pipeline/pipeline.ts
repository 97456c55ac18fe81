import { GatewayError, toGatewayError } from '../errors/table.ts';
import { renderError } from '../errors/render.ts';
import type { Logger } from '../logger.ts';
import type { Exchange } from './exchange.ts';
import { breakOf, discard, type Reply, tolerateErrors } from './reply.ts';
import type { Answer, Observer, Outcome, Stage } from './stage.ts';

/** A stage, by the name that gateway.yaml lists. */
export interface NamedStage {
  readonly name: string;
  readonly stage: Stage;
}

/**
 * An ordered list of stages, made from one configuration and never changed. A reload makes a new one; exchanges under
 * way finish on the one they began with, and `retire` releases it when the last of them is over.
 *
 * Every exchange goes through `begin`, `answer` and `finish`, once each and in this order.
 */
export class Pipeline {
  readonly #stages: readonly NamedStage[];
  readonly #log: Logger;
  readonly #starting: readonly NamedStage[];
  readonly #ending: readonly NamedStage[];
  #running = 0;
  #retired: PromiseWithResolvers<void> | undefined;

  constructor(stages: readonly NamedStage[], log: Logger, observers: Iterable<Observer> = []) {
    this.#stages = [...stages];
    this.#log = log;
    const hearing = [
      ...stages,
      ...[...observers].map((observer) => ({ name: observer.name, stage: observer as Stage })),
    ];
    this.#starting = hearing.filter(({ stage }) => stage.start !== undefined);
    this.#ending = hearing.filter(({ stage }) => stage.done !== undefined);
  }

  get names(): string[] {
    return this.#stages.map(({ name }) => name);
  }

  /** Exchanges that have begun and are not over. */
  get running(): number {
    return this.#running;
  }

  /** Lets the stages change what outlives this pipeline. Called once, when it has begun to serve. */
  activate(): void {
    for (const { name, stage } of this.#stages) {
      try {
        stage.activate?.();
      } catch (error) {
        this.#log.error(`stage ${name} failed in activate`, error);
      }
    }
  }

  begin(exchange: Exchange): void {
    this.#running++;
    for (const { name, stage } of this.#starting) {
      try {
        stage.start?.(exchange);
      } catch (error) {
        this.#log.error(`stage ${name} failed in start`, error);
      }
    }
  }

  /** Runs `enter` down and `leave` back up. Never throws: a refusal and a failure are replies too. */
  async answer(exchange: Exchange): Promise<Reply> {
    let entered = 0;
    let reply: Reply | undefined;
    try {
      let answer: Answer | undefined;
      while (entered < this.#stages.length && reply === undefined) {
        const { stage } = this.#stages[entered] as NamedStage;
        const result = stage.enter?.(exchange);
        const settled = result instanceof Promise ? await result : result;
        entered++;
        if (exchange.signal.aborted) {
          if (typeof settled === 'object') discard(settled);
          throw exchange.signal.reason;
        }
        if (typeof settled === 'function') answer ??= settled;
        else if (settled !== undefined) reply = settled;
      }
      reply ??= await (answer ?? this.#endpointAnswer(exchange))();
    } catch (error) {
      reply = this.#refuse(exchange, error);
    }
    return this.#leave(exchange, reply, entered);
  }

  /** Runs `done` for every stage. What a stage throws there is logged and hurts nobody. */
  async finish(exchange: Exchange, outcome: Outcome): Promise<void> {
    for (const { name, stage } of this.#ending) {
      try {
        const result = stage.done?.(exchange, outcome);
        if (result instanceof Promise) await result;
      } catch (error) {
        this.#log.error(`stage ${name} failed in done`, error);
      }
    }
    this.#running--;
    if (this.#running === 0) this.#retired?.resolve();
  }

  /** Waits for the exchanges under way and releases what the stages hold. */
  async retire(): Promise<void> {
    this.#retired ??= Promise.withResolvers();
    if (this.#running > 0) await this.#retired.promise;
    for (const { name, stage } of this.#stages.toReversed()) {
      try {
        await stage[Symbol.asyncDispose]?.();
      } catch (error) {
        this.#log.error(`stage ${name} failed to release what it held`, error);
      }
    }
  }

  #endpointAnswer(exchange: Exchange): Answer {
    const { endpoint } = exchange;
    return () => {
      if (endpoint.answer !== undefined) return endpoint.answer(exchange);
      throw new GatewayError('not_supported', `no stage of this gateway answers ${endpoint.method} ${endpoint.path}`);
    };
  }

  async #leave(exchange: Exchange, first: Reply, entered: number): Promise<Reply> {
    let reply = this.#unbroken(exchange, first);
    for (let index = entered - 1; index >= 0; index--) {
      const { stage } = this.#stages[index] as NamedStage;
      if (stage.leave === undefined) continue;
      const came = reply;
      try {
        const result = stage.leave(exchange, came);
        reply = this.#unbroken(exchange, (result instanceof Promise ? await result : result) ?? came, came);
      } catch (error) {
        discard(came);
        reply = this.#refuse(exchange, error);
      }
    }
    return reply;
  }

  /** The reply itself or, when its stream has broken while nothing of it was sent, the error. */
  #unbroken(exchange: Exchange, reply: Reply, came = reply): Reply {
    tolerateErrors(reply);
    const broken = breakOf(reply, came);
    if (broken === undefined) return reply;
    discard(reply);
    return this.#refuse(exchange, exchange.signal.reason ?? broken);
  }

  #refuse(exchange: Exchange, thrown: unknown): Reply {
    const error = toGatewayError(thrown);
    if (error.code === 'internal_error' && !exchange.isClientGone) {
      this.#log.error(`request ${exchange.id} ran into a mistake of the gateway`, thrown);
    }
    // What happens to stages because the client has left is nobody's failure.
    if (!exchange.isClientGone) exchange.fail(error);
    return renderError(error, exchange);
  }
}
