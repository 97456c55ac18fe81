import type { JsonObject } from '#core/platform/json.ts';
import type { Ask, Failure, ClientAnswer, PlainEntry } from '../conversation.ts';

/** The address of a client's request. */
export interface Address {
  readonly model: string;
  readonly isStream: boolean;
}

/** An entry as a client can write it; answers are in its own format already. */
export type Written = PlainEntry | { readonly type: 'echo'; readonly raw: readonly JsonObject[] };

/** A request as a client writes it. */
export interface Question extends Omit<Ask, 'entries'> {
  readonly entries: readonly Written[];
}

/** A client of one format: how it writes requests and reads answers. */
export interface ClientFormat {
  path(address: Address): string;
  readonly keyHeader: string;
  write(question: Question, address: Address): JsonObject;
  /** Folds a streamed answer. @throws when events contradict each other */
  fold(events: readonly StreamEvent[]): JsonObject;
  read(whole: JsonObject): ClientAnswer;
  /** An answer in the next request. @param forgets keeps only what the official format has */
  echo(whole: JsonObject, forgets: boolean): JsonObject[];
  /** The error in an answer. */
  readonly failures: Readonly<Record<Failure, JsonObject>>;
  readonly schemas: {
    readonly whole: object;
    readonly error: object;
    /** Name of the schema of an event, and the schemas by name. */
    eventType(event: JsonObject): string;
    readonly events: Readonly<Record<string, object>>;
  };
  /** True for what the format does not have. */
  cannotSay(feature: string): boolean;
  /** True when `echo` drops reasoning if it forgets. */
  readonly echoLosesThoughts: boolean;
  /** True when parallel calls can be turned off. */
  readonly hasSerialCalls: boolean;
  /** True when a result of a tool can be marked as an error. */
  readonly hasErrorFlag: boolean;
  /** True when the format reports the matched stop sequence. */
  readonly tellsStop: boolean;
}

export interface StreamEvent {
  readonly name: string | undefined; // the `event:` line
  readonly data: string;
}

/** @throws Error with the mistake in a stream */
export function insist(isTrue: boolean, what: string): asserts isTrue {
  if (!isTrue) throw new Error(what);
}
