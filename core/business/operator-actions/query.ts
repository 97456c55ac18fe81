/** A query that asks for something that does not exist. The message is a sentence. */
export class InvalidQuery extends Error {
  override readonly name = 'InvalidQuery';
}

const maxNameLength = 60;

/** `"days" is 400; must be at most 365.` */
export function sentenceOf(name: string, wrong: string, right: string): string {
  const short = name.length > maxNameLength ? `${name.slice(0, maxNameLength - 1)}…` : name;
  return `"${short}" ${wrong}; ${right}${/[.?]$/.test(right) ? '' : '.'}`;
}
