import type { ImportDraft } from './draft.ts';
import type { Vendors } from './endpoints.ts';
import type { ImportedObject } from './members.ts';

export interface UserTables {
  explainExclusion(user: ImportedObject): string | undefined;
  /** The first column that is not empty is used. */
  readonly nameColumns: readonly string[];
  readonly balanceColumn: string;
  readonly endColumn: string;
}

export interface ImportSource {
  readonly name: string;
  readonly title: string;
  /** What FILE is, for the help text. */
  readonly file: string;
  /** Imports what gateway.yaml has settings for, and notes the rest. Throws ImportError if the structure is unexpected. */
  readConfiguration(value: unknown, draft: ImportDraft, vendors: Vendors): void;
  readonly userTables?: UserTables;
}
