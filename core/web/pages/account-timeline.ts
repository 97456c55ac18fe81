import type { PageRequest } from './page.ts';

/** An event in an account's history, in words for the operators' account page. */
export interface TimelineEntry {
  readonly topic: 'money' | 'access' | 'requests';
  readonly at: Date;
  readonly icon: 'ok' | 'warn' | 'bad' | 'info' | 'waiting';
  readonly title: string;
  readonly text: string;
  readonly link?: { readonly path: string; readonly label: string } | undefined;
}

export type ReadTimeline = (request: PageRequest, accountId: string) => Promise<readonly TimelineEntry[]>;
