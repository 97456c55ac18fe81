const whiteSpace = /\s/;

/**
 * The rest of a text after the part that has been received. White space may differ: some servers trim a text or its lines when they
 * repeat it. Undefined if the part does not match; empty if only white space is missing.
 */
export function missingEnd(whole: string, received: string): string | undefined {
  if (whole.startsWith(received)) return whole.slice(received.length);
  let position = 0;
  for (let index = 0; index < received.length; index++) {
    const character = received.charAt(index);
    if (whiteSpace.test(character)) continue;
    while (whiteSpace.test(whole.charAt(position))) position++;
    if (whole.charAt(position) !== character) return undefined;
    position++;
  }
  const rest = whole.slice(position);
  return rest.trim() === '' ? '' : rest;
}
