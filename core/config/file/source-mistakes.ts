/** A mistake at a position in the text, before the value that it belongs to is known. */
export interface TextMistake {
  readonly offset: number;
  readonly wrong: string;
  readonly right: string;
}

/** Spaces other than U+0020, and invisible characters. */
const lookalike = '[\\u00A0\\u2000-\\u200B\\u202F\\u205F\\u3000\\uFEFF]';
const misplaced = [
  new RegExp(`^[ \\t]*(?:- *)?(${lookalike})`),
  new RegExp(`^[ \\t]*(?:- +)*["']?[\\w.*/-]+["']?[ \\t]*:[ \\t]*(${lookalike})`),
  new RegExp(`[{,][ \\t]*["']?[\\w.*/-]+["']?:(${lookalike})`),
  new RegExp(`(${lookalike})[ \\t]*$`),
  /([\u200B\uFEFF])/,
];
const names: Readonly<Record<string, string>> = {
  '\u00A0': 'a non-breaking space',
  '\u200B': 'a zero-width space',
  '\uFEFF': 'a byte order mark',
};

/**
 * Finds traces of editors, word processors and version control, which YAML would parse as content. Until they are removed, other
 * messages would mislead.
 */
export function findSourceMistakes(text: string): TextMistake[] {
  const conflicts: TextMistake[] = [];
  const spaces: TextMistake[] = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith('<<<<<<< '))
      conflicts.push({
        offset,
        wrong: 'begins a merge conflict (<<<<<<<)',
        right: 'keep one side, and remove the lines <<<<<<<, ======= and >>>>>>>',
      });
    const nul = line.indexOf('\0');
    if (nul !== -1)
      spaces.push({ offset: offset + nul, wrong: 'has a NUL character, which no text can have', right: 'remove it' });
    const found = findLookalike(line);
    if (found !== undefined) spaces.push({ ...found, offset: offset + found.offset });
    offset += line.length + 1;
  }
  return conflicts.length > 0 ? conflicts : spaces;
}

function findLookalike(line: string): TextMistake | undefined {
  // Nearly all lines are pure ASCII.
  if (!/[^\0-\x7f]/.test(line)) return undefined;
  const code = line.replace(/(^|[ \t])#.*$/, '').replace(/\r$/, '');
  for (const place of misplaced) {
    const [match, character] = place.exec(code) ?? [];
    if (match === undefined || character === undefined) continue;
    const point = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
    return {
      offset: code.indexOf(character, code.indexOf(match)),
      wrong: `has ${names[character] ?? 'a special space'} (${point})`,
      right: 'replace it by an ordinary space, or remove it',
    };
  }
  return undefined;
}
