import type { ImportDraft } from './draft.ts';
import type { Vendors } from './endpoints.ts';
import type { ImportedUser } from './imported-user.ts';

/** A gateway whose files can be imported. */
export interface ImportSource {
  readonly name: string;
  readonly title: string;
  /** Description of FILE for the help text. */
  readonly file: string;
  /**
   * Imports the configuration where gateway.yaml has an equivalent, and notes the rest.
   *
   * @param value the parsed file
   * @throws ImportError for an unexpected file structure
   */
  readConfiguration(value: unknown, draft: ImportDraft, vendors: Vendors): void;
  /** Reads a dump of users. @param now epoch ms @throws ImportError */
  readUsers?(value: unknown, draft: ImportDraft, now: number): ImportedUser[];
}
