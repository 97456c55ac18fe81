const whiteSpace = /\s/;

/**
 * Returns the end of a text that has not been received yet. White space may differ, because some servers trim a text or its lines when they
 * repeat it.
 *
 * @param received the start of the text
 * @returns undefined if `received` does not match the text; empty if only white space is missing
 */
export function findMissingEnd(text: string, received: string): string | undefined {
  if (text.startsWith(received)) return text.slice(received.length);
  let position = 0;
  for (let index = 0; index < received.length; index++) {
    const character = received.charAt(index);
    if (whiteSpace.test(character)) continue;
    while (whiteSpace.test(text.charAt(position))) position++;
    if (text.charAt(position) !== character) return undefined;
    position++;
  }
  const remainder = text.slice(position);
  return remainder.trim() === '' ? '' : remainder;
}
