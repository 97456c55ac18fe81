import type { Translate } from '#core/web/texts/texts.ts';

/** Notes of one kind, in one line. */
export interface NotesLine {
  readonly name: 'dropped' | 'approximated' | 'note';
  readonly text: string;
}

const verbs = ['dropped', 'approximated'] as const;
/** As `core/gateway/model-call/notes-header.ts` ends a list that is too long. */
const more = '...';
/** As `plugins/upstream` notes it. */
const resumed = 'resumed on another route after the first was interrupted';

/**
 * What translations noted, grouped: parameters that were left out, those that were approximated, and the rest. Notes name
 * parameters and features in English, as they are called in the API; only the words around them are translated.
 */
export function describeNotes(notes: readonly string[], t: Translate): NotesLine[] {
  const [dropped, approximated] = verbs.map((verb) =>
    notes.filter((note) => note.startsWith(`${verb} `)).map((note) => note.slice(verb.length + 1)),
  );
  const others = notes.filter((note) => !verbs.some((verb) => note.startsWith(`${verb} `)));
  const lines: NotesLine[] = [
    { name: 'dropped', text: (dropped ?? []).join(', ') },
    { name: 'approximated', text: (approximated ?? []).join(', ') },
    { name: 'note', text: others.map((note) => wordsOf(note, t)).join(' ') },
  ];
  return lines.filter(({ text }) => text !== '');
}

function wordsOf(note: string, t: Translate): string {
  if (note === resumed) return t('requests.note.resumed');
  return note === more ? t('requests.note.more') : note;
}
