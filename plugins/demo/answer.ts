/** What a model would be doing before an event: that is how long the demo waits. */
export type Work = 'start' | 'thinking' | 'token';

export interface StreamEvent {
  /** The `event:` line; formats without one leave it out. */
  readonly name?: string;
  readonly data: object | '[DONE]';
  /** Events that follow work carry content; the others are structure. */
  readonly after?: Work;
}

/** A reply in one wire format, ready to be sent whole or as a stream: both come from the same script. */
export interface Answer {
  readonly model: string;
  /** What the user wrote last: there may be a directive in it. */
  readonly text: string;
  readonly isStream: boolean;
  whole(): object;
  events(): readonly StreamEvent[];
  /** An error that comes with status 200: as a whole body, or as an event after so many others. */
  failure(message: string): object;
  failureEvent(message: string, eventsBefore: number): StreamEvent;
}
