/** Describes how a column is stored, read from a request's data, and limited in a line of the journal. */
export type Column<Source> = ColumnShape<Source> & (TextColumn | ValueColumn);

/** Personal data is removed with the account. */
interface TextColumn {
  readonly type: 'text' | 'text[]' | 'jsonb';
  readonly isPersonal: boolean;
}

interface ValueColumn {
  readonly type: 'uuid' | 'boolean' | 'smallint' | 'integer' | 'bigint' | 'timestamptz';
  readonly isPersonal?: boolean;
}

interface ColumnShape<Source> {
  /** Returns epoch ms for `timestamptz`, and a list of objects for `jsonb`. Undefined is stored as null. */
  read(source: Source): unknown;
  readonly isRequired?: true; // every record has the value
  /** For a text, or for each text in a list. Omitted for the gateway's own identifiers. */
  readonly maxLength?: number;
  readonly maximum?: number; // larger numbers are dropped
  /** Maximum number of entries in a list. The first entries are stored, or the last ones if the number is negative. */
  readonly entries?: number;
  /** Only operators see the values; the owner's export omits them. */
  readonly isConfidential?: true;
  /** Members of each object in a `jsonb` column, as separate columns. */
  readonly members?: Columns<never>;
}

export type Columns<Source> = Readonly<Record<string, Column<Source>>>;

export function defineColumns<Source>() {
  return <const C extends Columns<Source>>(columns: C): C => columns;
}

/** A row as read from the database. Every column is present, and null if the value is unknown. */
export type RecordRow<C extends Columns<never>> = { readonly [Name in keyof C]: Value<C[Name]> };

type Value<C extends Column<never>> =
  | (C extends { readonly members: infer Members extends Columns<never> }
      ? readonly Partial<RecordRow<Members>>[]
      : Exclude<ReturnType<C['read']>, undefined>)
  | (C extends { readonly isRequired: true } ? never : null);
