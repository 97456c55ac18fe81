/** Additional option of MikroORM's entity properties that marks personal data in a column. */
export interface PersonalOption {
  /** True: removed with the account. Undefined for numbers, times, ids and states, which are never personal. */
  readonly isPersonal?: boolean;
  /** Replaces a removed value other than null. By default the value becomes null, or the row is deleted if the column must not be null. */
  readonly replacement?: string;
  /** True: omitted from the owner's export, such as a digest or an operator's note. */
  readonly isHidden?: boolean;
  /** True: retained when the account is deleted, as required by law. Included in the owner's export. */
  readonly isRetained?: boolean;
  /**
   * SQL condition for the rows of an account, with its id as the only parameter. Required if neither a column account_id nor a relation
   * identifies the rows.
   */
  readonly ofAccount?: string;
}

/** Marks a column with data about a customer. Account deletion, the owner's export and the documentation follow from it. */
export function personal<Column extends object>(
  column: Column,
  options: Omit<PersonalOption, 'isPersonal'> = {},
): Column {
  return setOption(column, { isPersonal: true, ...options });
}

/** Marks text, JSON or bytes that are not about a customer, or must be retained after the account's deletion. */
export function impersonal<Column extends object>(column: Column): Column {
  return setOption(column, { isPersonal: false });
}

function setOption<Column extends object>(column: Column, option: PersonalOption): Column {
  Object.assign((column as { '~options': object })['~options'], option);
  return column;
}
