/** The mistake in a line, and the correct form. */
export type Words = readonly [wrong: string, right: string];

/** A comment as in JSON with comments and in most programming languages. */
export const slashComment: Words = ['has //, which begins no comment in YAML', 'begin comments with #'];

/**
 * Returns the mistake in a line that YAML reads as plain text although it was meant as a key or a list entry; undefined for any other
 * text. The message contains no values, because they may be secrets.
 */
export function lineMistake(line: string): Words | undefined {
  const text = line.trim();
  if (text.startsWith('//')) return slashComment;
  const [, dashed] = /^-([A-Za-z][\w-]*)/.exec(text) ?? [];
  if (dashed !== undefined) return ['has no space after the dash', `write "- ${dashed}"`];
  const [, key, rest = ''] = /^(?:- +)?([A-Za-z][\w-]*)(.*)$/.exec(text) ?? [];
  if (key === undefined) return undefined;
  const right = `write "${key}: …"`;
  // "https://…" is a value.
  if (/^:(?!\/\/)\S/.test(rest)) return [`has no space after "${key}:"`, right];
  if (/^\s*=/.test(rest)) return [`has "=" after "${key}" instead of a colon`, right];
  return undefined;
}

/** Returns the mistake in a line that must be a key, which includes a missing colon. */
export function keyLineMistake(line: string): Words | undefined {
  const known = lineMistake(line);
  if (known !== undefined) return known;
  const [, key] = /^(?:- +)?([A-Za-z][\w-]*)(?=\s|$)/.exec(line.trim()) ?? [];
  return key === undefined ? undefined : [`has no colon after "${key}"`, `write "${key}: …"`];
}
