import { hostname } from 'node:os';
import type { BaseConfiguration, VariantHooks, VariantRun } from '#core/extension/variants.ts';
import type { Serving } from '#core/gateway/http/open-exchange.ts';
import { runInBackground } from '#core/platform/background.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { Canaries, type Canary } from '../record/canaries.ts';
import { canaryReason } from '../record/canary-reason.ts';
import { AccountCounter } from './count-accounts.ts';
import { describeCanary, describeCounts, describeEnd } from './describe.ts';
import { servesAccount } from './share.ts';
import { getCanaryState } from './state.ts';
import { findTotalFailure } from './total-failure.ts';
import { isLookDue, evaluateCanary } from './verdict.ts';

const tickMs = 2_000; // between attempts to claim an evaluation; one instance evaluates for all
const minIntervalSeconds = 5;
const intervalFactor = 20; // the pause between evaluations is at least this multiple of the counting time

/** Runs the canary on this instance. Its row in the database, which all instances share, decides when it starts, is evaluated and ends. */
export class CanaryRun implements VariantRun {
  readonly #hooks: VariantHooks;
  readonly #canaries: Canaries;
  #running: { readonly canary: Canary; readonly base: BaseConfiguration; readonly serving: Serving } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isEvaluating = false;
  #counter: { readonly id: number; readonly accounts: AccountCounter } | undefined;

  constructor(hooks: VariantHooks) {
    this.#hooks = hooks;
    this.#canaries = new Canaries(hooks.host().database, hooks.documents.history);
  }

  /**
   * Serves the running canary in the database. A canary survives a restart, and a reload of the same base configuration. It ends on all
   * instances if one of them has another base configuration, cannot serve the canary, or finds it abandoned after its time.
   *
   * @throws Error while the database does not respond; nothing changes then
   */
  async follow(base: BaseConfiguration): Promise<void> {
    const canary = await this.#canaries.findRunning();
    if (canary !== undefined && base.digest !== undefined) {
      const { canary: served, base: servedBase } = this.#running ?? {};
      const isServed =
        served?.id === canary.id && servedBase?.serving === base.serving && servedBase.digest === base.digest;
      if (isServed || (await this.#start(canary, base))) return this.#publishState(canary);
    }
    if (base.digest === undefined) return;
    const [ended] = await this.#canaries.list(1);
    this.#publishState(ended);
    this.#stop(ended);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async retire(within?: number): Promise<void> {
    await this.#running?.serving.pipeline.retire(within);
  }

  /** @returns false if the canary was ended instead */
  async #start(canary: Canary, base: BaseConfiguration): Promise<boolean> {
    const canaries = this.#canaries;
    const { log } = this.#hooks.host();
    if (base.digest === canary.digest && base.fileDigest === canary.digest) {
      await canaries.makeFull(canary, base.fileDigest, canaryReason('canary.reason.same', { host: hostname() }));
      return false;
    }
    if (base.digest !== canary.baseDigest) {
      await canaries.end(canary.id, 'ended', canaryReason('canary.reason.changed', { host: hostname() }));
      return false;
    }
    // A canary cannot end while this plugin is off, and its old counts must not promote it later.
    const isNew = this.#running?.canary.id !== canary.id;
    if (isNew && (await canaries.endAbandoned(canary.id, canaryReason('canary.reason.overdue')))) return false;
    let serving: Serving;
    try {
      serving = await this.#hooks.prepare(canary.id, canary.text);
    } catch (error) {
      log.error(`canary ${canary.id} cannot be served`, error);
      const text = error instanceof Error ? error.message : String(error);
      await canaries.end(canary.id, 'ended', canaryReason('canary.reason.unserved', { host: hostname(), error: text }));
      return false;
    }
    const previous = this.#running;
    this.#running = { canary, base, serving };
    this.#hooks.serve({ number: canary.id, serving, includes: (account) => servesAccount(canary, account) });
    if (previous === undefined) log.warn(describeCanary(canary));
    else this.#retire(previous.serving);
    this.#timer ??= setInterval(
      () => runInBackground(log, 'evaluating the canary', () => this.evaluate()),
      tickMs,
    ).unref();
    return true;
  }

  #stop(newest: Canary | undefined): void {
    const running = this.#running;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (running === undefined) return;
    this.#running = undefined;
    this.#hooks.serve(undefined);
    this.#retire(running.serving);
    if (newest?.id === running.canary.id) this.#hooks.host().log.warn(describeEnd(newest));
  }

  /** Waits for the pipeline's last exchange, which may take as long as a stream. */
  #retire({ pipeline }: Serving): void {
    runInBackground(this.#hooks.host().log, 'releasing the pipeline of a canary', () => pipeline.retire());
  }

  async evaluate(): Promise<void> {
    const running = this.#running;
    if (running === undefined || this.#isEvaluating) return;
    this.#isEvaluating = true;
    try {
      const claimed = await this.#canaries.claimEvaluation(running.canary.id);
      if (claimed !== undefined) await this.#runEvaluation(claimed.canary, claimed.isOver, running.base.fileDigest);
    } finally {
      this.#isEvaluating = false;
    }
  }

  async #runEvaluation(canary: Canary, isOver: boolean, fileDigest: string): Promise<void> {
    const canaries = this.#canaries;
    const host = this.#hooks.host();
    const { database, log } = host;
    const startedAt = performance.now();
    if (this.#counter?.id !== canary.id)
      this.#counter = { id: canary.id, accounts: new AccountCounter(database, canary) };
    const { accounts: counter } = this.#counter;
    const recent = await counter.countRecent(host.now());
    const isDecisive = isLookDue(recent, canary, isOver) || findTotalFailure(recent) !== undefined;
    const accounts = isDecisive ? await counter.countAll(host.now()) : recent;
    const evaluation = await evaluateCanary(accounts, canary, isOver);
    const seconds = (performance.now() - startedAt) / 1000;
    await canaries.recordEvaluation(canary.id, evaluation, Math.max(minIntervalSeconds, seconds * intervalFactor));
    const { verdict, counts, reason = '' } = evaluation;
    if (verdict === 'worse') await canaries.end(canary.id, 'worse', reason);
    if (verdict === 'no_worse')
      await canaries.makeFull(
        canary,
        fileDigest,
        canaryReason('canary.reason.no_worse', { counts: describeCounts(counts) }),
      );
    if (verdict === 'worse' || verdict === 'no_worse') return;
    const current = { ...canary, ...evaluation };
    this.#publishState(current);
    if (verdict !== canary.verdict || (isOver && canary.lateLooks === 0)) log.info(describeCanary(current, isOver));
  }

  #publishState(canary: Canary | undefined): void {
    const host = this.#hooks.host();
    getCanaryState(host).last = canary;
    publishLive(host, 'health');
  }
}
