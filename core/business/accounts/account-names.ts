/** Replaces the name of a deleted account. */
export const deletedName = 'Deleted account';

/** Returns `NAME <ADDRESS>`, for operators. */
export function nameWithAddress(name: string, email: string | null | undefined): string {
  return email === null || email === undefined ? name : `${name} <${email}>`;
}
