import { suggest } from '#core/config/file/mistake.ts';

/** A query that asks for something that does not exist. The message is a sentence. */
export class InvalidQuery extends Error {
  override readonly name = 'InvalidQuery';
}

/**
 * A parameter that has one of a few values.
 *
 * @returns undefined when it is left out
 * @throws InvalidQuery
 */
export function choiceOf<const T extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly T[],
): T | undefined {
  const given = query.get(name);
  const known = values.find((one) => one === given);
  if (given === null || known !== undefined) return known;
  const right = suggest(given, values);
  const allowed = right.endsWith('?') ? ` Allowed: ${values.join(', ')}.` : '';
  throw new InvalidQuery(sentenceOf(name, `is ${JSON.stringify(given.slice(0, 60))}`, `${right}${allowed}`));
}

const maxNameLength = 60;

/** `"days" is 400; must be at most 365.` */
export function sentenceOf(name: string, wrong: string, right: string): string {
  const short = name.length > maxNameLength ? `${name.slice(0, maxNameLength - 1)}…` : name;
  return `"${short}" ${wrong}; ${right}${/[.?]$/.test(right) ? '' : '.'}`;
}
