import type { SmtpOutcome } from './smtp.ts';

const minConsecutiveDomains = 3; // if this many in a row are rejected in the same way, the server is the cause

interface RefusedMail<Mail> {
  readonly mail: Mail;
  readonly error: string;
  readonly cause: 'recipient' | 'unclear';
  readonly streak: number; // index of the series of identical rejections that it belongs to
}

interface DecidedRefusal<Mail> {
  readonly mail: Mail;
  readonly error: string;
  readonly state: 'failed' | 'waiting'; // `waiting`: the rejection is about the server
}

/**
 * Decides at the end of a run whether rejected mails fail or wait. A server with a wrong password or without DNS rejects every recipient,
 * with a reply that names this recipient. So the recipient counts as the cause only if
 *
 * - the rejection is not part of the series of identical rejections that ended the run, and
 * - it names the recipient as the cause, or the server accepted another mail in this run.
 */
export class Refusals<Mail> {
  readonly #refused: RefusedMail<Mail>[] = [];
  readonly #domains = new Set<string>();
  #streak = 0;
  #lastKey: string | undefined;
  #hasAccepted = false;
  #lastEndedRun = false;

  /** Returns true if the run must end. */
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

  decide(): DecidedRefusal<Mail>[] {
    return this.#refused.map(({ mail, error, cause, streak }) => {
      const isServer = this.#lastEndedRun && streak === this.#streak;
      const isRecipient = !isServer && (cause === 'recipient' || this.#hasAccepted);
      return { mail, error, state: isRecipient ? 'failed' : 'waiting' };
    });
  }
}
