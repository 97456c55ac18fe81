/** Where in the pipeline something runs: a stage or an endpoint, and what of it. */
export interface StageMoment {
  /** `stage "cache"`, `endpoint "list_models"` */
  readonly owner: string;
  readonly moment: 'enter' | 'answer' | 'leave' | 'done' | 'body';
}

/** A mistake of a stage: it does not end, or returns what is not a reply. Clients get a plain 500; the log names the stage. */
export class StageFault extends Error {
  override readonly name = 'StageFault';

  constructor({ owner, moment }: StageMoment, what: string) {
    super(`${owner} ${what} (${moment})`);
  }
}
