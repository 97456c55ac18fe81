import type { PageRequest } from './page.ts';

/** An event of an account, worded for the operators' page about the account. */
export interface TimelineEntry {
  readonly topic: 'money' | 'access' | 'requests';
  readonly at: Date;
  readonly icon: 'ok' | 'warn' | 'bad' | 'info' | 'waiting';
  readonly title: string;
  readonly text: string;
  readonly link?: { readonly path: string; readonly label: string } | undefined;
}

/** Reads a plugin's timeline entries of an account. */
export type ReadTimeline = (request: PageRequest, accountId: string) => Promise<readonly TimelineEntry[]>;
