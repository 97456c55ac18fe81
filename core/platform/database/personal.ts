/** A column's personal data: an additional option of MikroORM's entity properties. */
export interface PersonalOption {
  /** True: removed with the account. Undecided where the type of the column says it: numbers, times, ids, states. */
  readonly isPersonal?: boolean;
  /**
   * Takes the place of a removed value, not of null. Without it the value becomes null, and a row whose value must not be null is
   * deleted.
   */
  readonly replacement?: string;
  /** A digest, or a note of the operator: left out of the owner's export. */
  readonly isHidden?: boolean;
  /** True: stays when the account is deleted, because the law asks for it. In the owner's export like the others. */
  readonly isRetained?: boolean;
  /** Condition on the rows of an account, with its id as the only parameter, where no column account_id and no relation says it. */
  readonly ofAccount?: string;
}

/** Marks a column that is about a customer. Deletion and download of an account, and the documentation, follow from it. */
export function personal<Column extends object>(
  column: Column,
  options: Omit<PersonalOption, 'isPersonal'> = {},
): Column {
  return decide(column, { isPersonal: true, ...options });
}

/** Marks a text, JSON or bytes that are not about a customer, or that must outlive the account. */
export function impersonal<Column extends object>(column: Column): Column {
  return decide(column, { isPersonal: false });
}

function decide<Column extends object>(column: Column, option: PersonalOption): Column {
  Object.assign((column as { '~options': object })['~options'], option);
  return column;
}
