import type { ImportDraft } from './draft.ts';
import type { Vendors } from './endpoints.ts';
import type { ImportedUser } from './imported-user.ts';

/** A gateway whose files can be imported. */
export interface ImportSource {
  readonly name: string;
  readonly title: string;
  /** What FILE is, for the help text. */
  readonly file: string;
  /**
   * Takes the configuration over, as far as it has a place here, and notes the rest.
   *
   * @param value the parsed file
   * @throws ImportError for a file of another shape
   */
  readConfiguration(value: unknown, draft: ImportDraft, vendors: Vendors): void;
  /** Reads a dump of users. @param now epoch ms @throws ImportError */
  readUsers?(value: unknown, draft: ImportDraft, now: number): ImportedUser[];
}
