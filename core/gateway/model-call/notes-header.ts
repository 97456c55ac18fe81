import type { Service } from '../host/host.ts';

/** Maximum notes in a header: at 120 characters each, they stay below the limits of proxies. */
export const maxNotes = 24;

/** Ends a truncated list of notes. Three dots, because a header cannot carry an ellipsis. */
export const cutMark = '...';

/** Returns the name of the header and trailer for translation notes: `x-daypass-notes` for a service named Daypass. */
export function notesHeaderName({ slug }: Pick<Service, 'slug'>): string {
  return `x-${slug}-notes`;
}

/** Formats translation notes as a header value: each note once, truncated after `maxNotes`. */
export function formatNotes(notes: readonly string[]): string {
  const unique = [...new Set(notes)].filter((note) => note !== cutMark);
  const isCut = unique.length > maxNotes || notes.includes(cutMark);
  return [...unique.slice(0, maxNotes), ...(isCut ? [cutMark] : [])].join('; ');
}
