import { noteFailure } from '#core/platform/background.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { PageReader } from './page.ts';

const readTimeoutMs = 1_000;

/** A plugin's note about an item that another plugin's page lists. */
interface PluginNote {
  /** For operators, the id of a route, `upstream/model`; for customers, the public name of a model. */
  readonly about: string;
  readonly text: string;
  readonly kind: 'bad' | 'warn' | 'info';
  /** Page with details; only for operators. */
  readonly path?: string;
}

/** Returns the current notes. Must be fast, because it is called every time the page is shown or updated. */
export type NoteSource = (reader: PageReader) => readonly PluginNote[] | Promise<readonly PluginNote[]>;

/** Reads the notes from all sources, by subject. A source that fails or takes too long is skipped. */
export async function readNotes(
  sources: readonly NoteSource[],
  reader: PageReader,
): Promise<ReadonlyMap<string, readonly PluginNote[]>> {
  const notes = await Promise.all(
    sources.map(async (source) => {
      try {
        return await withDeadline(Promise.resolve(source(reader)), readTimeoutMs, 'no answer in time');
      } catch (error) {
        noteFailure(reader.host.log, 'reading the notes of a plugin', error);
        return [];
      }
    }),
  );
  return Map.groupBy(notes.flat(), ({ about }) => about);
}
