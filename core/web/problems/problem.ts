import type { EventName } from '#core/gateway/events/event-handler.ts';
import type { EventTypes } from '#core/gateway/events/events.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { PageRequest } from '../pages/page.ts';

/** `bad`: fix now. `warn`: fix today. `info`: a hint, without an alert. */
export const severities = ['bad', 'warn', 'info'] as const;

/** A problem, in the reader's language. */
export interface Problem {
  readonly severity: (typeof severities)[number];
  /** Title of two or three words. */
  readonly title: string;
  /** Sentences: the problem, then the remedy. */
  readonly pieces: readonly TextPiece[];
  /** Subject of the problem, such as a model or an order code, if its kind can have several. Must not be personal data. */
  readonly subject?: string | undefined;
  /** When the problem began; omitted if unknown. */
  readonly since?: Date | undefined;
  /** Link to the page on which it can be fixed. */
  readonly step: {
    readonly path: string;
    /** Text on the button; default: the page's title. */
    readonly text?: string;
    /** Longer name for screen readers. */
    readonly label?: string;
  };
  /** Runbook to use instead of the kind's. */
  readonly runbook?: string | undefined;
}

interface Problems extends ReadonlyArray<Problem> {
  readonly total?: number; // set if `find` returns only some of the problems
}

/** Part of a sentence, for a template. */
export interface TextPiece {
  readonly text: string;
  readonly isStrong?: boolean;
  /** True for text that exists only in English, such as mistakes in gateway.yaml. */
  readonly isEnglish?: boolean;
  /** True for a name or an address, which only pages show. */
  readonly isPersonal?: boolean;
  /** Turns the piece into a link. */
  readonly path?: string;
}

/** An operator on a page, or a program, which gets English. */
export type ProblemReader = Pick<PageRequest, 'host' | 't' | 'format' | 'language'>;

/**
 * A kind of problem that needs an operator's decision or repair. It is listed on the overview page and reported by `/readyz?verbose`, the
 * metric `problems`, the daily report and `daypass doctor`.
 */
export interface ProblemKind {
  /** Short name in snake_case: `mail`. */
  readonly name: string;
  /** Sort order within a severity, ascending: models 10, the machine 20 to 70, customers 80 to 110, money from 120. */
  readonly order: number;
  /** Page in docs/runbooks with the meaning, the effect on customers and the remedy: `mail-failing`. */
  readonly runbook?: string;
  /**
   * SQL condition that is true whenever there is a problem of this kind. The conditions of all kinds are checked in one statement, and
   * `find` is called only if this one is true.
   */
  readonly precondition?: string;
  /** How many problems are listed at most; default: all that `find` returns. */
  readonly maxListed?: number;
  /** Finds the current problems, oldest first. Must be fast. If it fails, the problem `unread` is shown instead. */
  find(reader: ProblemReader): Problems | Promise<Problems>;
  /** Alerts operators immediately. Kinds without an alert appear only in the daily report. */
  readonly alert?: ProblemAlert;
}

/** An alert about an event that reports a problem. Operators get it by email and webhook. */
export type ProblemAlert = EventAlert | WatchedAlert;

interface EventAlert extends AlertComposer {
  readonly event: EventName;
  readonly isWatched?: never;
}

/**
 * An alert about a problem that no event reports. A job looks for the problem every minute, and records the event at most once a day. If
 * there is no `compose`, the alert uses the texts of the kind's problems.
 */
interface WatchedAlert extends Partial<AlertComposer> {
  readonly event: WatchedEvent;
  readonly isWatched: true;
}

/** Events whose payload consists of a day in the service's time zone and when the problem began. */
type WatchedEvent = {
  [Name in EventName]: EventTypes[Name] extends { readonly day: string; readonly since: string } ? Name : never;
}[EventName];

interface AlertComposer {
  /** Composes the alert, or returns the reason for not sending one. `payload` is the event's. */
  compose(payload: Readonly<Record<string, string>>, reader: ProblemReader): Promise<Alert | string>;
}

/** An alert, sent as an email or as JSON. */
export interface Alert {
  readonly title: string;
  readonly text: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Path of an operator page, below the service's URL. */
  readonly path: string;
  /** The same facts for programs: in snake_case, without personal data. */
  readonly data: JsonObject;
}

export interface ProblemKinds {
  readonly problems: ReadonlyMap<string, ProblemKind>;
}

/** Parses a text in which asterisks mark emphasis: `paid *Rp 59.000* of *Rp 95.000*`. */
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

/**
 * Shortens external text and puts it in brackets, so that it can follow a sentence; if it contains brackets itself, it follows after a
 * colon. Returns '' for an empty text.
 */
export function inBrackets(text: string): string {
  const shortText = shorten(text);
  if (shortText === '') return '';
  return shortText.includes('(') ? `: ${shortText}` : ` (${shortText})`;
}
