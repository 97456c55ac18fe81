/** Marks personal data in a column: an additional option of MikroORM's entity properties. */
export interface PersonalOption {
  /** True: removed with the account. Undefined if the type of the column decides: numbers, times, ids, states. */
  readonly isPersonal?: boolean;
  /** Replaces a removed value, but not null. By default the value becomes null, and rows that must not be null are deleted. */
  readonly replacement?: string;
  /** A digest, or an operator's note: omitted from the owner's export. */
  readonly isHidden?: boolean;
  /** True: kept when the account is deleted, because the law requires it. Included in the owner's export. */
  readonly isRetained?: boolean;
  /**
   * SQL condition for the rows of an account, with its id as the only parameter; needed if neither a column account_id nor a relation
   * identifies them.
   */
  readonly ofAccount?: string;
}

/** Marks a column with data about a customer. Account deletion, the owner's export and the documentation follow from it. */
export function personal<Column extends object>(
  column: Column,
  options: Omit<PersonalOption, 'isPersonal'> = {},
): Column {
  return decide(column, { isPersonal: true, ...options });
}

/** Marks text, JSON or bytes that are not about a customer, or must outlive the account. */
export function impersonal<Column extends object>(column: Column): Column {
  return decide(column, { isPersonal: false });
}

function decide<Column extends object>(column: Column, option: PersonalOption): Column {
  Object.assign((column as { '~options': object })['~options'], option);
  return column;
}
