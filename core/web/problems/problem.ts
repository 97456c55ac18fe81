import type { EventName } from '#core/gateway/events/event-handler.ts';
import type { EventTypes } from '#core/gateway/events/events.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { PageRequest } from '../pages/page.ts';

/** `bad` is to be fixed now, `warn` today; `info` is a hint without an alert. */
export const severities = ['bad', 'warn', 'info'] as const;

/** A problem, in its reader's language. */
export interface Problem {
  readonly severity: (typeof severities)[number];
  /** Two or three words. */
  readonly title: string;
  /** The problem, then the remedy. */
  readonly pieces: readonly TextPiece[];
  /** Subject, if there may be several problems of the kind: a model, the code of an order. No personal data. */
  readonly subject?: string | undefined;
  /** Start of the problem; omitted if unknown. */
  readonly since?: Date | undefined;
  /** The page where it can be fixed. Its button says `text`, by default the title of that page; `label` says more to screen readers. */
  readonly step: { readonly path: string; readonly text?: string; readonly label?: string };
  /** Replaces the runbook of its kind. */
  readonly runbook?: string | undefined;
}

interface Problems extends ReadonlyArray<Problem> {
  readonly total?: number; // if not all are listed
}

/** A piece of a sentence for a template. */
export interface TextPiece {
  readonly text: string;
  readonly isStrong?: boolean;
  /** Text that exists only in English, such as mistakes in gateway.yaml. */
  readonly isEnglish?: boolean;
  /** A name or an address, shown only on pages. */
  readonly isPersonal?: boolean;
  readonly path?: string;
}

/** The reader: an operator on a page, or a program, in English. */
export type ProblemReader = Pick<PageRequest, 'host' | 't' | 'format' | 'language'>;

/**
 * A kind of problem that an operator decides or fixes. The operator's overview lists it, and `/readyz?verbose`, the metric `problems`, the
 * daily report and `daypass doctor` report it. All of that goes with the plugin that registers it.
 */
export interface ProblemKind {
  /** Snake_case and short: `mail`. */
  readonly name: string;
  /** Order within a severity, ascending: models 10, the machine 20 to 70, customers 80 to 110, money from 120 on. */
  readonly order: number;
  /** A page in docs/runbooks with meaning, effect on customers and remedy: `mail-failing`. */
  readonly runbook?: string;
  /**
   * SQL condition that is necessary, but not sufficient, for a problem of the kind. A view of the overview checks those of all kinds in one
   * statement, and calls `find` where they hold: on most days, nowhere.
   */
  readonly precondition?: string;
  /** Current problems, oldest first. Must be fast; an error becomes a problem `unread` in their place. */
  find(reader: ProblemReader): Problems | Promise<Problems>;
  /** Immediate alert to the operator. Problems without it are only in the daily report. */
  readonly alert?: ProblemAlert;
}

/** Alert about an event that reports a problem, sent to the operator by mail and webhook. */
export type ProblemAlert =
  | (AlertComposer & { readonly event: EventName; readonly isWatched?: never })
  // Nothing records it: a job checks every minute whether there is a problem of the kind, and records it once a day. Without a composer,
  // the alert says what the problem says.
  | (Partial<AlertComposer> & { readonly event: WatchedEvent; readonly isWatched: true });

/** Events whose payload is a day, in the service's time zone, and the time since which there is the problem. */
type WatchedEvent = {
  [Name in EventName]: EventTypes[Name] extends { readonly day: string; readonly since: string } ? Name : never;
}[EventName];

interface AlertComposer {
  /**
   * Composes the alert.
   *
   * @param payload of the event
   * @returns the message for the operator, or the reason for sending none
   */
  compose(payload: Readonly<Record<string, string>>, reader: ProblemReader): Promise<Alert | string>;
}

/** An alert, to be written as a mail or as JSON. */
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

/** Splits a text at `*`, which encloses what matters most: `paid *Rp 59.000* of *Rp 95.000*`. */
export function readEmphasis(text: string): TextPiece[] {
  return text
    .split('*')
    .map((piece, index) => ({ text: piece, isStrong: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}

const maxReasonLength = 120;

/** Shortens text from elsewhere to one line of at most 120 characters. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > maxReasonLength ? `${line.slice(0, maxReasonLength - 1)}…` : line;
}

/** Returns shortened text from elsewhere, to follow a sentence: in brackets, or after a colon if it has brackets itself. '' for none. */
export function inBrackets(text: string): string {
  const words = shorten(text);
  if (words === '') return '';
  return words.includes('(') ? `: ${words}` : ` (${words})`;
}
