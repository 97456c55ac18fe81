export interface StageMoment {
  readonly owner: string; // such as `stage "cache"` or `endpoint "list_models"`
  readonly moment: 'enter' | 'answer' | 'hold' | 'leave' | 'done' | 'body';
}

/** Thrown if a stage does not finish in time or returns an invalid reply. Clients get a generic 500, and the log names the stage. */
export class StageFault extends Error {
  override readonly name = 'StageFault';

  constructor({ owner, moment }: StageMoment, fault: string) {
    super(`${owner} ${fault} (${moment})`);
  }
}
