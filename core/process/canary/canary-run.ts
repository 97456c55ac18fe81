import { hostname } from 'node:os';
import { inBackground } from '#core/platform/background.ts';
import { canaryReason } from '#core/config/history/canary-reason.ts';
import type { Canaries, Canary } from '#core/config/history/canaries.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { ExchangeHandler } from '#core/gateway/http/exchange-handler.ts';
import type { Serving } from '#core/gateway/http/open-exchange.ts';
import { AccountCounter } from './count-accounts.ts';
import { describeCanary, describeCounts, describeEnd } from './describe.ts';
import { takesAccount } from './share.ts';
import { findTotalFailure } from './total-failure.ts';
import { isLookDue, judge } from './verdict.ts';

/** Ms between two attempts to judge. One instance does, for all. */
const tick = 2_000;
/** Seconds between two judgements, at least; counting takes a twentieth of the time at most. */
const judgeInterval = 5;
const timesCounting = 20;

/** What a canary needs of the process that it runs in. */
export interface CanaryRunParts {
  readonly canaries: Canaries;
  readonly database: Pick<Database, 'query'>;
  readonly handler: Pick<ExchangeHandler, 'serveCanary'>;
  readonly log: Logger;
  /** Epoch ms. */
  readonly now: () => number;
  /** Prepares the configuration of a canary beside the one that serves. @throws why it cannot serve */
  prepare(canary: Canary): Promise<Serving>;
  /** Tells the operator pages. */
  onChange(canary: Canary | undefined): void;
}

/** What the other accounts are served. */
export interface Base {
  readonly serving: Serving;
  /** Undefined while the database does not answer. */
  readonly digest: string | undefined;
  readonly fileDigest: string;
}

/** The canary on this instance: begins, is judged and ends with its row in the database, which all instances share. */
export class CanaryRun {
  readonly #parts: CanaryRunParts;
  #running: { readonly canary: Canary; readonly base: Base; readonly serving: Serving } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isJudging = false;
  #counter: { readonly id: number; readonly accounts: AccountCounter } | undefined;

  constructor(parts: CanaryRunParts) {
    this.#parts = parts;
  }

  /**
   * Serves what the database says. A canary continues after a restart, and beside the same configuration loaded again. It ends on all
   * instances where one has another configuration for the other accounts by now, or cannot serve it.
   *
   * @param base what serves now @throws Error while the database does not answer; then everything stays
   */
  async follow(base: Base): Promise<void> {
    const { canaries, onChange } = this.#parts;
    const [last] = await canaries.list(1);
    const canary = last?.end === undefined ? last : undefined;
    if (canary !== undefined && base.digest !== undefined) {
      const { canary: known, base: beside } = this.#running ?? {};
      const isKnown = known?.id === canary.id && beside?.serving === base.serving && beside.digest === base.digest;
      if (isKnown || (await this.#begin(canary, base))) return onChange(canary);
    }
    if (base.digest === undefined) return;
    const [ended] = await canaries.list(1);
    onChange(ended);
    this.#drop(ended);
  }

  /** Stops judging; requests are served as before. */
  close(): void {
    clearInterval(this.#timer);
  }

  /** Releases the canary's stages once its exchanges have ended, see `Pipeline.retire`. */
  async retire(within?: number): Promise<void> {
    await this.#running?.serving.pipeline.retire(within);
  }

  /** @returns false when the canary has ended over it */
  async #begin(canary: Canary, base: Base): Promise<boolean> {
    const { handler, canaries, log, prepare } = this.#parts;
    if (base.digest === canary.digest && base.fileDigest === canary.digest) {
      await canaries.makeFull(canary, base.fileDigest, canaryReason('canary.reason.same', { host: hostname() }));
      return false;
    }
    if (base.digest !== canary.baseDigest) {
      await canaries.end(canary.id, 'ended', canaryReason('canary.reason.changed', { host: hostname() }));
      return false;
    }
    let serving: Serving;
    try {
      serving = await prepare(canary);
    } catch (error) {
      log.error(`canary ${canary.id} cannot be served`, error);
      const why = error instanceof Error ? error.message : String(error);
      await canaries.end(canary.id, 'ended', canaryReason('canary.reason.unserved', { host: hostname(), error: why }));
      return false;
    }
    const previous = this.#running;
    this.#running = { canary, base, serving };
    handler.serveCanary({ number: canary.id, serving, takes: (account) => takesAccount(canary, account) });
    if (previous === undefined) log.warn(describeCanary(canary));
    else this.#retire(previous.serving);
    this.#timer ??= setInterval(() => inBackground(log, 'judging the canary', () => this.judge()), tick).unref();
    return true;
  }

  /** @param ended the last one on record */
  #drop(ended: Canary | undefined): void {
    const running = this.#running;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (running === undefined) return;
    this.#running = undefined;
    this.#parts.handler.serveCanary(undefined);
    this.#retire(running.serving);
    if (ended?.id === running.canary.id) this.#parts.log.warn(describeEnd(ended));
  }

  /** Waits for its last exchange, which may take as long as a stream does. */
  #retire({ pipeline }: Serving): void {
    inBackground(this.#parts.log, 'releasing the pipeline of a canary', () => pipeline.retire());
  }

  /** Compares both sides, unless another instance does, and ends the canary where the counts say so. */
  async judge(): Promise<void> {
    const running = this.#running;
    if (running === undefined || this.#isJudging) return;
    this.#isJudging = true;
    try {
      const claimed = await this.#parts.canaries.claim(running.canary.id);
      if (claimed !== undefined) await this.#judgeNow(claimed.canary, claimed.isOver, running.base.fileDigest);
    } finally {
      this.#isJudging = false;
    }
  }

  async #judgeNow(canary: Canary, isOver: boolean, fileDigest: string): Promise<void> {
    const { canaries, database, log, now, onChange } = this.#parts;
    const began = performance.now();
    if (this.#counter?.id !== canary.id)
      this.#counter = { id: canary.id, accounts: new AccountCounter(database, canary) };
    const { accounts: counter } = this.#counter;
    const recent = await counter.countRecent(now());
    const isDecisive = isLookDue(recent, canary, isOver) || findTotalFailure(recent) !== undefined;
    const accounts = isDecisive ? await counter.countAll(now()) : recent;
    const judged = await judge(accounts, canary, isOver);
    const seconds = (performance.now() - began) / 1000;
    await canaries.judged(canary.id, judged, Math.max(judgeInterval, seconds * timesCounting));
    const { verdict, counts, reason = '' } = judged;
    if (verdict === 'worse') await canaries.end(canary.id, 'worse', reason);
    if (verdict === 'no_worse')
      await canaries.makeFull(
        canary,
        fileDigest,
        canaryReason('canary.reason.no_worse', { counts: describeCounts(counts) }),
      );
    if (verdict === 'worse' || verdict === 'no_worse') return;
    const current = { ...canary, ...judged };
    onChange(current);
    if (verdict !== canary.verdict || (isOver && canary.lateLooks === 0)) log.info(describeCanary(current, isOver));
  }
}
