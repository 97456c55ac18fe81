import type { ImportDraft } from './draft.ts';
import type { Vendors } from './endpoints.ts';
import type { ImportedObject } from './members.ts';

/** Schema of a gateway's users and subscriptions. */
export interface UserTables {
  /** Reason for not importing a user; undefined if it is imported. */
  explainExclusion(user: ImportedObject): string | undefined;
  /** Columns with the user's name; the first non-empty one is used. */
  readonly nameColumns: readonly string[];
  /** Column with the user's balance. */
  readonly balanceColumn: string;
  /** Column with the end of a subscription. */
  readonly endColumn: string;
}

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
  /** Tables of a dump of users. */
  readonly userTables?: UserTables;
}
