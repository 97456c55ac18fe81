import { Visit } from '../serving/visit.ts';

/** A visit whose page is rendered again and again, long after its head was sent. */
export class LiveVisit extends Visit {
  /** @throws Error for a visitor: visitors share what is rendered, and a token is for one browser */
  override formToken(path: string): string {
    if (this.account === undefined)
      throw new Error(`a live part of "${this.path}" has a form that visitors would share`);
    return super.formToken(path);
  }
}
