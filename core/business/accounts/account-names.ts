export const deletedName = 'Deleted account';

export function nameWithAddress(name: string, email: string | null | undefined): string {
  return email === null || email === undefined ? name : `${name} <${email}>`;
}
