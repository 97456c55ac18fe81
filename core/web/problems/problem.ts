import type { EventName } from '#core/gateway/events/event-handler.ts';
import type { EventTypes } from '#core/gateway/events/events.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { PageRequest } from '../pages/page.ts';

/** `bad`: fix now. `warn`: fix today. `info`: a hint without an alert. */
export const severities = ['bad', 'warn', 'info'] as const;

/** A problem, in its reader's language. */
export interface Problem {
  readonly severity: (typeof severities)[number];
  /** Title of two or three words. */
  readonly title: string;
  /** Sentences about the problem, then the remedy. */
  readonly pieces: readonly TextPiece[];
  /** Subject if the kind can have several problems, such as a model or an order code. No personal data. */
  readonly subject?: string | undefined;
  /** Start of the problem; omitted if unknown. */
  readonly since?: Date | undefined;
  /** Link to the page that fixes it. */
  readonly step: {
    readonly path: string;
    /** Text of the button; default: the page's title. */
    readonly text?: string;
    /** Longer name for screen readers. */
    readonly label?: string;
  };
  /** Replaces the runbook of its kind. */
  readonly runbook?: string | undefined;
}

interface Problems extends ReadonlyArray<Problem> {
  readonly total?: number; // set if `find` returns only some of them
}

/** A piece of a sentence for a template. */
export interface TextPiece {
  readonly text: string;
  readonly isStrong?: boolean;
  /** Text that exists only in English, such as mistakes in gateway.yaml. */
  readonly isEnglish?: boolean;
  /** A name or an address, shown only on pages. */
  readonly isPersonal?: boolean;
  /** Makes the piece a link. */
  readonly path?: string;
}

/** The reader of problems: an operator on a page, or a program, which reads English. */
export type ProblemReader = Pick<PageRequest, 'host' | 't' | 'format' | 'language'>;

/**
 * A kind of problem for operators to decide or fix, listed on their overview and reported by `/readyz?verbose`, the metric `problems`, the
 * daily report and `daypass doctor`.
 */
export interface ProblemKind {
  /** Short name in snake_case: `mail`. */
  readonly name: string;
  /** Order within a severity, ascending: models 10, the machine 20 to 70, customers 80 to 110, money from 120. */
  readonly order: number;
  /** A page in docs/runbooks with meaning, effect on customers and remedy: `mail-failing`. */
  readonly runbook?: string;
  /**
   * SQL condition that holds whenever there is a problem of the kind. All conditions are queried in one statement, and `find` is called
   * only if the kind's condition holds.
   */
  readonly precondition?: string;
  /** Maximum number of problems that are listed; default: all that `find` returns. */
  readonly maxListed?: number;
  /** Finds current problems, oldest first. Must be fast. If it fails, the problem `unread` is shown instead. */
  find(reader: ProblemReader): Problems | Promise<Problems>;
  /** Immediate alert to the operator. Kinds without one appear only in the daily report. */
  readonly alert?: ProblemAlert;
}

/** Alert about an event that reports a problem, sent to the operator by email and webhook. */
export type ProblemAlert = EventAlert | WatchedAlert;

interface EventAlert extends AlertComposer {
  readonly event: EventName;
  readonly isWatched?: never;
}

/**
 * Alert about a problem that no event reports. A job looks for the problem every minute and records the event at most once a day. Without a
 * composer, the alert has the texts of the kind's problems.
 */
interface WatchedAlert extends Partial<AlertComposer> {
  readonly event: WatchedEvent;
  readonly isWatched: true;
}

/** Events whose payload is a day in the service's time zone and the start of the problem. */
type WatchedEvent = {
  [Name in EventName]: EventTypes[Name] extends { readonly day: string; readonly since: string } ? Name : never;
}[EventName];

interface AlertComposer {
  /**
   * Composes the alert.
   *
   * @param payload the event's payload
   * @returns the alert, or the reason for sending none
   */
  compose(payload: Readonly<Record<string, string>>, reader: ProblemReader): Promise<Alert | string>;
}

/** An alert, sent as an email or as JSON. */
export interface Alert {
  readonly title: string;
  readonly text: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Path of an operators' page, below the URL of the service. */
  readonly path: string;
  /** These facts for programs: in snake_case, without personal data. */
  readonly data: JsonObject;
}

/** The part of the registry with the kinds of problems. */
export interface ProblemKinds {
  readonly problems: ReadonlyMap<string, ProblemKind>;
}

/** Parses a text with emphasis between asterisks: `paid *Rp 59.000* of *Rp 95.000*`. */
export function readEmphasis(text: string): TextPiece[] {
  return text
    .split('*')
    .map((piece, index) => ({ text: piece, isStrong: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}

const maxReasonLength = 120;

/** Shortens external text to one line of at most `maxReasonLength` characters. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > maxReasonLength ? `${line.slice(0, maxReasonLength - 1)}…` : line;
}

/** Shortens external text to follow a sentence: in brackets, or after a colon if the text has brackets itself. '' for an empty text. */
export function inBrackets(text: string): string {
  const shortText = shorten(text);
  if (shortText === '') return '';
  return shortText.includes('(') ? `: ${shortText}` : ` (${shortText})`;
}
