const whiteSpace = /\s/;

/**
 * The end of a whole text behind the part of it that has come, which may differ in white space: some servers trim a text or strip its
 * lines when they repeat it. Undefined for another text; empty where nothing but white space is missing.
 */
export function missingEnd(whole: string, had: string): string | undefined {
  if (whole.startsWith(had)) return whole.slice(had.length);
  let at = 0;
  for (let index = 0; index < had.length; index++) {
    const character = had.charAt(index);
    if (whiteSpace.test(character)) continue;
    while (whiteSpace.test(whole.charAt(at))) at++;
    if (whole.charAt(at) !== character) return undefined;
    at++;
  }
  const rest = whole.slice(at);
  return rest.trim() === '' ? '' : rest;
}
