import type { ImportDraft } from './draft.ts';
import type { Vendors } from './endpoints.ts';
import type { ImportedObject } from './members.ts';

/** How a gateway stores its users and subscriptions. */
export interface UserTables {
  /** Why a user is not imported; undefined if it is. */
  explainExclusion(user: ImportedObject): string | undefined;
  /** Columns that may have the user's name; the first that is not empty is used. */
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
  /** What FILE is, for the help text. */
  readonly file: string;
  /**
   * Imports what gateway.yaml has settings for, and notes the rest.
   *
   * @param value the parsed file
   * @throws ImportError if the file has an unexpected structure
   */
  readConfiguration(value: unknown, draft: ImportDraft, vendors: Vendors): void;
  /** Tables of a dump of users. */
  readonly userTables?: UserTables;
}
