/** Notes that fit into what proxies take for a header, at 120 characters each. */
export const maxNotes = 24;

/** Stands at the end of notes that had to be cut. Three dots, because an ellipsis is no character for a header. */
export const cutMark = '...';

/** Notes of a translation as `x-daypass-notes` has them: each once, and cut where there are more than a header may have. */
export function notesHeader(notes: readonly string[]): string {
  const said = [...new Set(notes)].filter((note) => note !== cutMark);
  const isCut = said.length > maxNotes || notes.includes(cutMark);
  return [...said.slice(0, maxNotes), ...(isCut ? [cutMark] : [])].join('; ');
}
