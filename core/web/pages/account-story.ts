import type { PageRequest } from './page.ts';

/** An event of an account, in words, for the operators' page about it. */
export interface StoryEntry {
  readonly topic: 'money' | 'access' | 'requests';
  readonly at: Date;
  readonly icon: 'ok' | 'warn' | 'bad' | 'info' | 'waiting';
  readonly title: string;
  readonly text: string;
  readonly link?: { readonly path: string; readonly label: string };
}

/** Reads a plugin's entries about an account. */
export type ReadStory = (request: PageRequest, accountId: string) => Promise<readonly StoryEntry[]>;
