import type { Service } from '../host/host.ts';

/** Maximum number of notes in a header. At 120 characters each, they stay below the limits of proxies. */
export const maxNotes = 24;

/** Ends a truncated list of notes. Headers cannot contain the ellipsis character. */
export const truncationMark = '...';

/** Note on a reply that continues on another route after its headers were sent. */
export const resumedNote = 'resumed on another route after the first was interrupted';

/** Returns the name of the header and trailer for translation notes: `x-daypass-notes` for a service named Daypass. */
export function notesHeaderName({ slug }: Pick<Service, 'slug'>): string {
  return `x-${slug}-notes`;
}

/** Removes duplicates, and truncates after `maxNotes`. */
export function formatNotes(notes: readonly string[]): string {
  const uniqueNotes = [...new Set(notes)].filter((note) => note !== truncationMark);
  const isTruncated = uniqueNotes.length > maxNotes || notes.includes(truncationMark);
  return [...uniqueNotes.slice(0, maxNotes), ...(isTruncated ? [truncationMark] : [])].join('; ');
}
