import type { PageRequest } from './page.ts';

/** Something that happened to an account, in words, for its page of operators. */
export interface StoryEntry {
  readonly topic: 'money' | 'access' | 'requests';
  readonly at: Date;
  readonly icon: 'ok' | 'warn' | 'bad' | 'info' | 'waiting';
  readonly title: string;
  readonly text: string;
  readonly link?: { readonly path: string; readonly label: string };
}

/** A plugin's data about an account. */
export type ReadStory = (request: PageRequest, accountId: string) => Promise<readonly StoryEntry[]>;
