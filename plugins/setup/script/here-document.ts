/** `<<'DATA'` with the text: a shell expands nothing in it. The delimiter is no line of the text. */
export function hereDocument(text: string): string {
  const lines = new Set(text.split('\n'));
  let delimiter = 'DATA';
  while (lines.has(delimiter)) delimiter += '_';
  return `<<'${delimiter}'\n${text.trimEnd()}\n${delimiter}\n`;
}
