import { bounds } from '#core/platform/bounds.ts';
import { AccountWindow } from './account-window.ts';
import { CallWindow } from './call-window.ts';
import type { Requester } from './requester.ts';

/** Thresholds for opening a breaker; see `BreakerOptions`. */
export interface EvidenceOptions {
  readonly failures: number;
  readonly failureRatio: number;
  readonly minimumCalls: number;
  readonly window: number; // ms
}

/** A failure of the route. */
export interface RouteFailure {
  readonly reason: string;
  readonly requester: Requester;
  /** False where no request can cause it, such as for a refused connection. */
  readonly mayBeCausedByRequest: boolean;
  /** Ms for which the upstream asked for no request; missing or 0 where it did not. */
  readonly retryAfter?: number;
}

/** Failures that requests may have caused open a breaker only from several accounts: one customer cannot block a route for others. */
const minAccounts = 2;

/**
 * Evidence against a route whose breaker is closed: a run of failures without a success, and shares of a window.
 *
 * Failures that no request can cause count each. Others count once per conversation, because clients repeat a request that makes an
 * upstream fail; a run of them needs several accounts, and their share is one of accounts, because a client has as many conversations
 * as it likes. Accounts whose failures have opened the breaker just before another account was served do not count for a window.
 * `now` is ms of a monotonic clock.
 */
export class Evidence {
  readonly #options: EvidenceOptions;
  readonly #calls: CallWindow;
  readonly #accounts: AccountWindow;
  readonly #conversations = new Map<string, number>();
  #run = 0;
  /** Failures of the run that no request can have caused. */
  #uncaused = 0;
  /** Conversations of the run; each counts once, however late it fails again. */
  readonly #conversationsOfRun = new Set<string>();
  readonly #accountsOfRun = new Set<string>();
  /** Accounts whose failures do not count, with the end of that time. */
  readonly #disproved = new Map<string, number>();

  constructor(options: EvidenceOptions) {
    this.#options = options;
    this.#calls = new CallWindow(options);
    this.#accounts = new AccountWindow(options);
  }

  /** True while the last result is a failure. */
  get isRunning(): boolean {
    return this.#run > 0;
  }

  succeeded(now: number, account: string): void {
    this.#calls.count(now, false);
    this.#accounts.count(now, account, false);
  }

  endRun(): void {
    if (this.#run === 0) return;
    this.#run = this.#uncaused = 0;
    this.#conversationsOfRun.clear();
    this.#accountsOfRun.clear();
  }

  /** @returns true when this is enough to open the breaker */
  failed(now: number, { requester, mayBeCausedByRequest: isCaused }: RouteFailure): boolean {
    if (isCaused && (this.isDisproved(requester.account, now) || this.isKnown(requester.conversation, now)))
      return false;
    this.#calls.count(now, !isCaused);
    if (isCaused) {
      this.#accounts.count(now, requester.account, true);
      this.#countInRun(requester);
    } else {
      this.#run++;
      this.#uncaused++;
    }
    return this.#isRunEnough || this.#isShareEnough(now);
  }

  /** True for a conversation that has failed in this window already; counts it otherwise. */
  isKnown(conversation: string, now: number): boolean {
    const since = this.#conversations.get(conversation);
    if (since !== undefined && now - since < this.#options.window) return true;
    remember(this.#conversations, conversation, now, bounds.failingConversations);
    return false;
  }

  /** The accounts whose requests may have caused the failures, the latest last. */
  suspects(now: number): string[] {
    const { failing } = this.#accounts.counts(now, this.#options.failureRatio);
    return [...new Set([...failing, ...this.#accountsOfRun])].slice(-bounds.openingAccounts);
  }

  /** An account opened the breaker while the route serves another one. @param pause ms for which it does not count */
  disprove(account: string, now: number, pause = this.#options.window): void {
    remember(this.#disproved, account, now + pause, bounds.openingAccounts);
  }

  isDisproved(account: string, now: number): boolean {
    return this.#disproved.size > 0 && (this.#disproved.get(account) ?? 0) > now;
  }

  /** The accounts that do not count, and for how many ms. */
  disproved(now: number): ReadonlyMap<string, number> {
    return new Map([...this.#disproved].flatMap(([account, until]) => (until > now ? [[account, until - now]] : [])));
  }

  /** Forgets all but the disproved accounts. */
  clear(): void {
    this.endRun();
    this.#conversations.clear();
    this.#calls.clear();
    this.#accounts.clear();
  }

  #countInRun({ account, conversation }: Requester): void {
    const { failures } = this.#options;
    if (this.#accountsOfRun.size < bounds.openingAccounts) this.#accountsOfRun.add(account);
    // Above the threshold, their number makes no difference.
    if (this.#conversationsOfRun.size >= failures || this.#conversationsOfRun.has(conversation)) return;
    this.#conversationsOfRun.add(conversation);
    this.#run++;
  }

  get #isRunEnough(): boolean {
    const { failures } = this.#options;
    if (this.#uncaused >= failures) return true;
    return this.#run >= failures && this.#accountsOfRun.size >= minAccounts;
  }

  #isShareEnough(now: number): boolean {
    const { failures, failureRatio, minimumCalls } = this.#options;
    if (this.#calls.calls(now) < minimumCalls) return false;
    if (this.#calls.failureRatio(now) >= failureRatio) return true;
    const { failing, failures: failed, all } = this.#accounts.counts(now, failureRatio);
    // The odd request of two accounts that send little says less than a run.
    return failing.length >= minAccounts && failed >= failures && failing.length >= failureRatio * all;
  }
}

/** Keeps an entry as the latest of at most so many. */
export function remember<Value>(entries: Map<string, Value>, key: string, value: Value, most: number): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size > most) entries.delete(entries.keys().next().value as string);
}
