/** A mistake at a position in the text, before its path is known. */
export interface TextMistake {
  readonly offset: number;
  readonly wrong: string;
  readonly right: string;
}

const lookalikeSpace = '[\\u00A0\\u2000-\\u200B\\u202F\\u205F\\u3000\\uFEFF]'; // spaces other than U+0020, and invisible characters
const misplacedSpaces = [
  new RegExp(`^[ \\t]*(?:- *)?(${lookalikeSpace})`),
  new RegExp(`^[ \\t]*(?:- +)*["']?[\\w.*/-]+["']?[ \\t]*:[ \\t]*(${lookalikeSpace})`),
  new RegExp(`[{,][ \\t]*["']?[\\w.*/-]+["']?:(${lookalikeSpace})`),
  new RegExp(`(${lookalikeSpace})[ \\t]*$`),
  /([\u200B\uFEFF])/,
];
const characterNames: Readonly<Record<string, string>> = {
  '\u00A0': 'a non-breaking space',
  '\u200B': 'a zero-width space',
  '\uFEFF': 'a byte order mark',
};

/**
 * Finds what editors, word processors and version control leave behind, which YAML would parse as content. Until it is removed, all other
 * messages would be misleading.
 */
export function findSourceMistakes(text: string): TextMistake[] {
  const conflicts: TextMistake[] = [];
  const characters: TextMistake[] = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith('<<<<<<< '))
      conflicts.push({
        offset,
        wrong: 'begins a merge conflict (<<<<<<<)',
        right: 'keep one side, and remove the lines <<<<<<<, ======= and >>>>>>>',
      });
    const nulIndex = line.indexOf('\0');
    if (nulIndex !== -1)
      characters.push({
        offset: offset + nulIndex,
        wrong: 'has a NUL character, which text cannot contain',
        right: 'remove it',
      });
    const lookalike = findLookalike(line);
    if (lookalike !== undefined) characters.push({ ...lookalike, offset: offset + lookalike.offset });
    offset += line.length + 1;
  }
  return conflicts.length > 0 ? conflicts : characters;
}

function findLookalike(line: string): TextMistake | undefined {
  // Nearly all lines are pure ASCII.
  if (!/[^\0-\x7f]/.test(line)) return undefined;
  const code = line.replace(/(^|[ \t])#.*$/, '').replace(/\r$/, '');
  for (const pattern of misplacedSpaces) {
    const [match, character] = pattern.exec(code) ?? [];
    if (match === undefined || character === undefined) continue;
    const point = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
    return {
      offset: code.indexOf(character, code.indexOf(match)),
      wrong: `has ${characterNames[character] ?? 'a special space'} (${point})`,
      right: 'replace it with an ordinary space, or remove it',
    };
  }
  return undefined;
}
