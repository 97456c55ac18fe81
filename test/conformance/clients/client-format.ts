import type { JsonObject } from '#core/json.ts';
import type { Ask, Failure, Seen, Spoken } from '../talk.ts';

/** Where a client's request goes. */
export interface Address {
  readonly model: string;
  readonly isStream: boolean;
}

/** An entry as a client can write it: what it has got is in its own words already. */
export type Written = Spoken | { readonly type: 'echo'; readonly raw: readonly JsonObject[] };

/** A request as a client writes it. */
export interface Question extends Omit<Ask, 'said'> {
  readonly said: readonly Written[];
}

/** A client of one format: what it sends, and how it reads what comes. */
export interface ClientFormat {
  path(address: Address): string;
  readonly keyHeader: string;
  write(question: Question, address: Address): JsonObject;
  /** What a streamed answer is as a whole. @throws when events contradict each other */
  fold(events: readonly StreamEvent[]): JsonObject;
  read(whole: JsonObject): Seen;
  /** What goes into the next request for an answer. @param forgets only what the official format has words for */
  echo(whole: JsonObject, forgets: boolean): JsonObject[];
  /** What tells the client of an error. */
  readonly failures: Readonly<Record<Failure, JsonObject>>;
  readonly schemas: {
    readonly whole: object;
    readonly error: object;
    /** Name of the schema of an event, and the schemas by name. */
    eventType(event: JsonObject): string;
    readonly events: Readonly<Record<string, object>>;
  };
  /** True for what a client of the format has no words for. */
  cannotSay(feature: string): boolean;
  /** True when `echo` leaves thoughts out, if it forgets. */
  readonly echoLosesThoughts: boolean;
  /** True when calls can be asked for one at a time. */
  readonly hasSerialCalls: boolean;
  /** True when a result of a tool can be marked as an error. */
  readonly hasErrorFlag: boolean;
  /** True when the format tells which stop sequence was met. */
  readonly tellsStop: boolean;
}

export interface StreamEvent {
  readonly name: string | undefined; // the `event:` line
  readonly data: string;
}

/** @throws Error that says what is wrong with a stream */
export function insist(isTrue: boolean, what: string): asserts isTrue {
  if (!isTrue) throw new Error(what);
}
