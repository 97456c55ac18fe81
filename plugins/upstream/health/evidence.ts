import { bounds } from '#core/platform/bounds.ts';
import { AccountWindow } from './account-window.ts';
import { CallWindow } from './call-window.ts';
import type { Requester } from './requester.ts';

export interface EvidenceOptions {
  /** Number of consecutive failures that opens the breaker. */
  readonly failures: number;
  /** Share of failed calls, or of failing accounts, that opens the breaker once the window has `minimumCalls`. */
  readonly failureRatio: number;
  readonly minimumCalls: number;
  readonly window: number; // ms
}

export interface RouteFailure {
  readonly reason: string;
  readonly requester: Requester;
  /** False for failures that no request can cause, such as a refused connection. */
  readonly mayBeCausedByRequest: boolean;
  /** The upstream's Retry-After; missing or 0 if there is none. */
  readonly retryAfterMs?: number;
}

const minAccounts = 2; // so that no customer can block a route for others

/**
 * Evidence against a route whose breaker is closed: a run of failures without a success, and the share of failures in a window.
 *
 * Failures that no request can cause all count. Failures that a request may have caused count once per conversation, because clients repeat
 * a request that makes an upstream fail. One client can open any number of conversations, so a run of such failures must involve several
 * accounts, and their share is a share of accounts. If an account opens the breaker and another account is served shortly afterwards, the
 * first account's failures are ignored for a window. `now` is monotonic ms.
 */
export class Evidence {
  readonly #options: EvidenceOptions;
  readonly #calls: CallWindow;
  readonly #accounts: AccountWindow;
  readonly #failedConversations = new Map<string, number>();
  #runLength = 0;
  #definiteFailures = 0; // in the run, which no request can have caused
  /** Conversations in the run; each counts once. */
  readonly #runConversations = new Set<string>();
  readonly #runAccounts = new Set<string>();
  readonly #disprovedUntil = new Map<string, number>();

  constructor(options: EvidenceOptions) {
    this.#options = options;
    this.#calls = new CallWindow(options);
    this.#accounts = new AccountWindow(options);
  }

  get hasRecentFailure(): boolean {
    return this.#runLength > 0;
  }

  /** Counts a served call. The run continues until `endRun`. */
  recordSuccess(now: number, account: string): void {
    this.#calls.countCall(now, false);
    this.#accounts.countCall(now, account, false);
  }

  /** Ends the run of failures, because a call was served while the breaker was closed. */
  endRun(): void {
    if (this.#runLength === 0) return;
    this.#runLength = this.#definiteFailures = 0;
    this.#runConversations.clear();
    this.#runAccounts.clear();
  }

  /** @returns true if the evidence is enough to open the breaker */
  recordFailure(now: number, { requester, mayBeCausedByRequest }: RouteFailure): boolean {
    const isIgnored =
      mayBeCausedByRequest &&
      (this.isDisproved(requester.account, now) || this.recordConversation(requester.conversation, now));
    if (isIgnored) return false;
    this.#calls.countCall(now, !mayBeCausedByRequest);
    if (mayBeCausedByRequest) {
      this.#accounts.countCall(now, requester.account, true);
      this.#countInRun(requester);
    } else {
      this.#runLength++;
      this.#definiteFailures++;
    }
    return this.#isRunSufficient || this.#isShareSufficient(now);
  }

  /** Returns true if the conversation had already failed in this window. */
  recordConversation(conversation: string, now: number): boolean {
    const failedAt = this.#failedConversations.get(conversation);
    if (failedAt !== undefined && now - failedAt < this.#options.window) return true;
    storeLatest(this.#failedConversations, conversation, now, bounds.failingConversations);
    return false;
  }

  /** Lists the accounts whose requests may have caused the failures, latest last. */
  listSuspects(now: number): string[] {
    const { failingAccounts } = this.#accounts.summarize(now, this.#options.failureRatio);
    return [...new Set([...failingAccounts, ...this.#runAccounts])].slice(-bounds.openingAccounts);
  }

  /** Ignores the failures of an account that opened the breaker, because the route serves another account. */
  disprove(account: string, now: number, durationMs = this.#options.window): void {
    storeLatest(this.#disprovedUntil, account, now + durationMs, bounds.openingAccounts);
  }

  isDisproved(account: string, now: number): boolean {
    return this.#disprovedUntil.size > 0 && (this.#disprovedUntil.get(account) ?? 0) > now;
  }

  getRemainingDisprovalMs(now: number): ReadonlyMap<string, number> {
    return new Map(
      [...this.#disprovedUntil].flatMap(([account, until]) => (until > now ? [[account, until - now]] : [])),
    );
  }

  /** Clears everything but the disproved accounts. */
  clear(): void {
    this.endRun();
    this.#failedConversations.clear();
    this.#calls.clear();
    this.#accounts.clear();
  }

  #countInRun({ account, conversation }: Requester): void {
    const { failures } = this.#options;
    if (this.#runAccounts.size < bounds.openingAccounts) this.#runAccounts.add(account);
    // Past the threshold, more conversations make no difference.
    if (this.#runConversations.size >= failures || this.#runConversations.has(conversation)) return;
    this.#runConversations.add(conversation);
    this.#runLength++;
  }

  get #isRunSufficient(): boolean {
    const { failures } = this.#options;
    if (this.#definiteFailures >= failures) return true;
    return this.#runLength >= failures && this.#runAccounts.size >= minAccounts;
  }

  #isShareSufficient(now: number): boolean {
    const { failures, failureRatio, minimumCalls } = this.#options;
    if (this.#calls.countCalls(now) < minimumCalls) return false;
    if (this.#calls.computeFailureRatio(now) >= failureRatio) return true;
    const { failingAccounts, failures: accountFailures, accountCount } = this.#accounts.summarize(now, failureRatio);
    // A few failures of two accounts with little traffic prove less than a run.
    return (
      failingAccounts.length >= minAccounts &&
      accountFailures >= failures &&
      failingAccounts.length >= failureRatio * accountCount
    );
  }
}

/** Stores an entry as the latest one, and removes the oldest if there are more than `maxSize`. */
export function storeLatest<Value>(entries: Map<string, Value>, key: string, value: Value, maxSize: number): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size > maxSize) entries.delete(entries.keys().next().value as string);
}
