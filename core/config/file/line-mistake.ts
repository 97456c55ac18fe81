export type MistakeText = readonly [wrong: string, right: string];

export const slashComment: MistakeText = ['has //, which does not begin a comment in YAML', 'begin comments with #'];

/**
 * Finds the mistake in a line that YAML parses as plain text although it was meant as a key or a list entry; undefined for other text. The
 * message contains no values, because they may be secrets.
 */
export function findLineMistake(line: string): MistakeText | undefined {
  const text = line.trim();
  if (text.startsWith('//')) return slashComment;
  const [, entry] = /^-([A-Za-z][\w-]*)/.exec(text) ?? [];
  if (entry !== undefined) return ['has no space after the dash', `write "- ${entry}"`];
  const [, key, remainder = ''] = /^(?:- +)?([A-Za-z][\w-]*)(.*)$/.exec(text) ?? [];
  if (key === undefined) return undefined;
  const right = `write "${key}: …"`;
  // "https://…" is a value, not a key.
  if (/^:(?!\/\/)\S/.test(remainder)) return [`has no space after "${key}:"`, right];
  if (/^\s*=/.test(remainder)) return [`has "=" after "${key}" instead of a colon`, right];
  return undefined;
}

/** Finds the mistake in a line that must be a key, such as a missing colon. */
export function findKeyLineMistake(line: string): MistakeText | undefined {
  const mistake = findLineMistake(line);
  if (mistake !== undefined) return mistake;
  const [, key] = /^(?:- +)?([A-Za-z][\w-]*)(?=\s|$)/.exec(line.trim()) ?? [];
  return key === undefined ? undefined : [`has no colon after "${key}"`, `write "${key}: …"`];
}
