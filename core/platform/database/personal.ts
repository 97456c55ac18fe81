/** An option on MikroORM's entity properties that marks personal data in a column. */
export interface PersonalOption {
  /** True: removed with the account. Undefined for numbers, times, ids and states, which are never personal. */
  readonly isPersonal?: boolean;
  /** Replaces a removed value other than null. By default the value becomes null, or the row is deleted if the column must not be null. */
  readonly replacement?: string;
  /** Set for values that are omitted from the owner's export, such as digests or an operator's notes. */
  readonly isHidden?: boolean;
  /** Set for values that are kept when the account is deleted, as required by law. They are included in the owner's export. */
  readonly isRetained?: boolean;
  /**
   * SQL condition for the rows of an account, with its id as the only parameter. Required if neither a column account_id nor a relation
   * identifies the rows.
   */
  readonly ofAccount?: string;
}

/** Marks a column with data about a customer. This determines account deletion, the owner's export and the documentation. */
export function personal<Column extends object>(
  column: Column,
  options: Omit<PersonalOption, 'isPersonal'> = {},
): Column {
  return setOption(column, { isPersonal: true, ...options });
}

/** Marks text, JSON or bytes that are not about a customer, or must be kept after the account is deleted. */
export function impersonal<Column extends object>(column: Column): Column {
  return setOption(column, { isPersonal: false });
}

function setOption<Column extends object>(column: Column, option: PersonalOption): Column {
  Object.assign((column as { '~options': object })['~options'], option);
  return column;
}
