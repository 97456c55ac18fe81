/** Describes how a column is stored, read from a request's data, and limited in a line of the journal. */
export type Column<Source> = ColumnShape<Source> & (TextColumn | ValueColumn);

interface TextColumn {
  readonly type: 'text' | 'text[]' | 'jsonb';
  readonly isPersonal: boolean; // personal data is removed with the account
}

interface ValueColumn {
  readonly type: 'uuid' | 'boolean' | 'smallint' | 'integer' | 'bigint' | 'timestamptz';
  readonly isPersonal?: boolean;
}

interface ColumnShape<Source> {
  /** Returns epoch ms for `timestamptz`, and a list of objects for `jsonb`. Undefined is stored as null. */
  read(source: Source): unknown;
  readonly isRequired?: true; // every record has the value
  readonly maxLength?: number; // of a text, or of each text in a list; omitted for the gateway's own identifiers
  readonly maximum?: number; // larger numbers are dropped
  readonly entries?: number; // maximum number in a list: the first ones, or the last ones if negative
  readonly isConfidential?: true; // only for operators; the owner's export omits it
  readonly members?: Columns<never>; // of each object in a `jsonb` column
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
