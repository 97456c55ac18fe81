import type { SmtpOutcome } from './smtp.ts';

/** Consecutive domains with identically rejected recipients: then it is the server that rejects. */
const domainsInARow = 3;

interface Held<Mail> {
  readonly mail: Mail;
  readonly error: string;
  readonly cause: 'recipient' | 'unclear';
  readonly streak: number;
}

interface DecidedRefusal<Mail> {
  readonly mail: Mail;
  readonly error: string;
  /** `waiting`: the rejection is about the server. */
  readonly state: 'failed' | 'waiting';
}

/**
 * Decides over one run whether refused mails fail or wait. A server with a wrong password or without DNS refuses every recipient in
 * words that name this one, so a refusal counts as the recipient's only
 *
 * - if it is not one of those that ended the run, the same for several domains in a row, and
 * - if it says that it is about the recipient, or the server took another mail in this run.
 */
export class Refusals<Mail> {
  readonly #held: Held<Mail>[] = [];
  readonly #domains = new Set<string>();
  #streak = 0;
  #sameness: string | undefined;
  #hasTaken = false;
  #lastEndedRun = false;

  /** @returns true if the run ends */
  note(mail: Mail, domain: string, outcome: SmtpOutcome): boolean {
    if (outcome.kind === 'sent') this.#hasTaken = true;
    const same = 'sameness' in outcome ? outcome.sameness : undefined;
    if (same === undefined || same !== this.#sameness) {
      this.#streak++;
      this.#domains.clear();
      this.#sameness = same;
    }
    if (same !== undefined) this.#domains.add(domain.toLowerCase());
    if (outcome.kind === 'refused')
      this.#held.push({ mail, error: outcome.error, cause: outcome.cause, streak: this.#streak });
    this.#lastEndedRun = this.#domains.size >= domainsInARow;
    return this.#lastEndedRun || (outcome.kind === 'later' && outcome.isServer);
  }

  /** States of the run's rejected mails. */
  decide(): DecidedRefusal<Mail>[] {
    return this.#held.map(({ mail, error, cause, streak }) => {
      const isServer = this.#lastEndedRun && streak === this.#streak;
      const isRecipient = !isServer && (cause === 'recipient' || this.#hasTaken);
      return { mail, error, state: isRecipient ? 'failed' : 'waiting' };
    });
  }
}
