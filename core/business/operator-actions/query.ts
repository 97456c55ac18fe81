/** Thrown if a query asks for something that does not exist. The message is a sentence. */
export class InvalidQuery extends Error {
  override readonly name = 'InvalidQuery';
}

const maxNameLength = 60;

/** Formats a mistake as a sentence: `"days" is 400; must be at most 365.` */
export function formatMistake(name: string, wrong: string, right: string): string {
  const shortName = name.length > maxNameLength ? `${name.slice(0, maxNameLength - 1)}…` : name;
  return `"${shortName}" ${wrong}; ${right}${/[.?]$/.test(right) ? '' : '.'}`;
}
