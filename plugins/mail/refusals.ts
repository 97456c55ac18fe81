import type { SmtpOutcome } from './smtp.ts';

/** Number of consecutive recipient domains with the same rejection that attributes the rejection to the server. */
const minConsecutiveDomains = 3;

interface RefusedMail<Mail> {
  readonly mail: Mail;
  readonly error: string;
  readonly cause: 'recipient' | 'unclear';
  /** Number of the series of identical refusals that it belongs to. */
  readonly streak: number;
}

interface DecidedRefusal<Mail> {
  readonly mail: Mail;
  readonly error: string;
  /** `waiting`: the rejection concerns the server. */
  readonly state: 'failed' | 'waiting';
}

/**
 * Decides at the end of a run whether refused mails fail or wait. A server with a wrong password or without DNS refuses every recipient
 * with a reply that names this recipient. So a refusal is attributed to the recipient only if
 *
 * - it is not one of the identical refusals, for consecutive domains, that ended the run, and
 * - it names the recipient as the cause, or the server accepted another mail in this run.
 */
export class Refusals<Mail> {
  readonly #refused: RefusedMail<Mail>[] = [];
  readonly #domains = new Set<string>();
  #streak = 0;
  #lastKey: string | undefined;
  #hasAccepted = false;
  #lastEndedRun = false;

  /** Records the outcome of a mail; returns true if the run must end. */
  recordOutcome(mail: Mail, domain: string, outcome: SmtpOutcome): boolean {
    if (outcome.kind === 'sent') this.#hasAccepted = true;
    const key = 'refusalKey' in outcome ? outcome.refusalKey : undefined;
    if (key === undefined || key !== this.#lastKey) {
      this.#streak++;
      this.#domains.clear();
      this.#lastKey = key;
    }
    if (key !== undefined) this.#domains.add(domain.toLowerCase());
    if (outcome.kind === 'refused')
      this.#refused.push({ mail, error: outcome.error, cause: outcome.cause, streak: this.#streak });
    this.#lastEndedRun = this.#domains.size >= minConsecutiveDomains;
    return this.#lastEndedRun || (outcome.kind === 'later' && outcome.isServer);
  }

  /** Decides the states of the run's rejected mails. */
  decide(): DecidedRefusal<Mail>[] {
    return this.#refused.map(({ mail, error, cause, streak }) => {
      const isServer = this.#lastEndedRun && streak === this.#streak;
      const isRecipient = !isServer && (cause === 'recipient' || this.#hasAccepted);
      return { mail, error, state: isRecipient ? 'failed' : 'waiting' };
    });
  }
}
