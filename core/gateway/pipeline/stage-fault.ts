/** The running code: a stage or an endpoint, and which of its functions. */
export interface StageMoment {
  /** `stage "cache"`, `endpoint "list_models"` */
  readonly owner: string;
  readonly moment: 'enter' | 'answer' | 'hold' | 'leave' | 'done' | 'body';
}

/** A defect of a stage: it does not finish, or does not return a reply. Clients get a plain 500; the log names the stage. */
export class StageFault extends Error {
  override readonly name = 'StageFault';

  constructor({ owner, moment }: StageMoment, what: string) {
    super(`${owner} ${what} (${moment})`);
  }
}
