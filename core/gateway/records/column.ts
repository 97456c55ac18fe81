/** How a column is stored, read from a request's data, and bounded in a line of the journal. */
export type Column<Source> = ColumnShape<Source> & (Content | Measure);

/** Columns of free content declare whether they are personal data, which is removed with the account. */
interface Content {
  readonly type: 'text' | 'text[]' | 'jsonb';
  readonly isPersonal: boolean;
}

interface Measure {
  readonly type: 'uuid' | 'boolean' | 'smallint' | 'integer' | 'bigint' | 'timestamptz';
  readonly isPersonal?: boolean;
}

interface ColumnShape<Source> {
  /** Epoch ms for `timestamptz`, a list of objects for `jsonb`. Undefined is stored as null. */
  read(source: Source): unknown;
  readonly isRequired?: true; // every record has the value
  /** Maximum characters of a text, or of each text in a list. Omitted for the gateway's own identifiers. */
  readonly maxLength?: number;
  readonly maximum?: number; // larger numbers are omitted
  /** Maximum entries of a list: the first ones, or the last ones if negative. */
  readonly entries?: number;
  /** Members of each object in a `jsonb` column, as separate columns. */
  readonly members?: Columns<never>;
}

export type Columns<Source> = Readonly<Record<string, Column<Source>>>;

/** Ties columns to the type of their source. */
export function columnsOf<Source>() {
  return <const C extends Columns<Source>>(columns: C): C => columns;
}

/** A row as read: every column is present, and null if the value is unknown. */
export type RecordRow<C extends Columns<never>> = { readonly [Name in keyof C]: Value<C[Name]> };

type Value<C extends Column<never>> =
  | (C extends { readonly members: infer Members extends Columns<never> }
      ? readonly Partial<RecordRow<Members>>[]
      : Exclude<ReturnType<C['read']>, undefined>)
  | (C extends { readonly isRequired: true } ? never : null);
