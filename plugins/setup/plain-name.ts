/** The remedy for a name that is not plain, for messages. */
export const plainNameRule = 'use a model or alias whose name has only ASCII letters, digits and . / : @ + - _';

/** True for a name that no shell and no settings file reads as anything else, and no script as a placeholder. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9][\w./:@+-]*$/.test(name) && !/@[A-Z_]+@/.test(name);
}
