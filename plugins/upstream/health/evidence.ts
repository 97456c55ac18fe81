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
  /** False for failures that no request can cause, such as a refused connection. */
  readonly mayBeCausedByRequest: boolean;
  /** Ms that the upstream asked to wait; missing or 0 if it did not. */
  readonly retryAfter?: number;
}

/** Failures that requests may have caused must come from this many accounts: one customer cannot block a route for others. */
const minAccounts = 2;

/**
 * Evidence against a route whose breaker is closed: a run of failures without a success, and the share of failures in a window.
 *
 * Failures that no request can cause are all counted. Others count once per conversation, because clients repeat a request that makes an
 * upstream fail. A run of those must involve several accounts, and their share is a share of accounts, because one client can open any
 * number of conversations. Accounts that opened the breaker shortly before another account was served are ignored for a window. `now` is
 * monotonic ms.
 */
export class Evidence {
  readonly #options: EvidenceOptions;
  readonly #calls: CallWindow;
  readonly #accounts: AccountWindow;
  readonly #conversations = new Map<string, number>();
  #run = 0;
  /** Failures of the run that no request can cause. */
  #uncausedFailures = 0;
  /** Conversations of the run; each counts once. */
  readonly #conversationsOfRun = new Set<string>();
  readonly #accountsOfRun = new Set<string>();
  /** Accounts whose failures are ignored -> until when. */
  readonly #disprovedUntil = new Map<string, number>();

  constructor(options: EvidenceOptions) {
    this.#options = options;
    this.#calls = new CallWindow(options);
    this.#accounts = new AccountWindow(options);
  }

  get hasRecentFailure(): boolean {
    return this.#run > 0;
  }

  succeeded(now: number, account: string): void {
    this.#calls.count(now, false);
    this.#accounts.count(now, account, false);
  }

  endRun(): void {
    if (this.#run === 0) return;
    this.#run = this.#uncausedFailures = 0;
    this.#conversationsOfRun.clear();
    this.#accountsOfRun.clear();
  }

  /** @returns true if the evidence suffices to open the breaker */
  failed(now: number, { requester, mayBeCausedByRequest: isCaused }: RouteFailure): boolean {
    if (isCaused && (this.isDisproved(requester.account, now) || this.isKnown(requester.conversation, now)))
      return false;
    this.#calls.count(now, !isCaused);
    if (isCaused) {
      this.#accounts.count(now, requester.account, true);
      this.#countInRun(requester);
    } else {
      this.#run++;
      this.#uncausedFailures++;
    }
    return this.#isRunEnough || this.#isShareEnough(now);
  }

  /** True if the conversation already failed in this window; otherwise remembers it. */
  isKnown(conversation: string, now: number): boolean {
    const since = this.#conversations.get(conversation);
    if (since !== undefined && now - since < this.#options.window) return true;
    remember(this.#conversations, conversation, now, bounds.failingConversations);
    return false;
  }

  /** Accounts whose requests may have caused the failures, latest last. */
  suspects(now: number): string[] {
    const { failing } = this.#accounts.counts(now, this.#options.failureRatio);
    return [...new Set([...failing, ...this.#accountsOfRun])].slice(-bounds.openingAccounts);
  }

  /**
   * Ignores the failures of an account: it opened the breaker, but the route serves another account.
   *
   * @param pause ms for which they are ignored
   */
  disprove(account: string, now: number, pause = this.#options.window): void {
    remember(this.#disprovedUntil, account, now + pause, bounds.openingAccounts);
  }

  isDisproved(account: string, now: number): boolean {
    return this.#disprovedUntil.size > 0 && (this.#disprovedUntil.get(account) ?? 0) > now;
  }

  /** Accounts whose failures are ignored -> ms left. */
  disproved(now: number): ReadonlyMap<string, number> {
    return new Map(
      [...this.#disprovedUntil].flatMap(([account, until]) => (until > now ? [[account, until - now]] : [])),
    );
  }

  /** Clears everything except the disproved accounts. */
  clear(): void {
    this.endRun();
    this.#conversations.clear();
    this.#calls.clear();
    this.#accounts.clear();
  }

  #countInRun({ account, conversation }: Requester): void {
    const { failures } = this.#options;
    if (this.#accountsOfRun.size < bounds.openingAccounts) this.#accountsOfRun.add(account);
    // Above the threshold, the number makes no difference.
    if (this.#conversationsOfRun.size >= failures || this.#conversationsOfRun.has(conversation)) return;
    this.#conversationsOfRun.add(conversation);
    this.#run++;
  }

  get #isRunEnough(): boolean {
    const { failures } = this.#options;
    if (this.#uncausedFailures >= failures) return true;
    return this.#run >= failures && this.#accountsOfRun.size >= minAccounts;
  }

  #isShareEnough(now: number): boolean {
    const { failures, failureRatio, minimumCalls } = this.#options;
    if (this.#calls.calls(now) < minimumCalls) return false;
    if (this.#calls.failureRatio(now) >= failureRatio) return true;
    const { failing, failures: failed, all } = this.#accounts.counts(now, failureRatio);
    // A few failures of two accounts that send little prove less than a run.
    return failing.length >= minAccounts && failed >= failures && failing.length >= failureRatio * all;
  }
}

/** Makes an entry the latest, and drops the oldest one beyond `maxSize`. */
export function remember<Value>(entries: Map<string, Value>, key: string, value: Value, maxSize: number): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size > maxSize) entries.delete(entries.keys().next().value as string);
}
