/** JSON texts that take long to read for their size, by what is much in them. Each takes about `size` characters. */
export const hostileValues: Readonly<Record<string, (size: number) => string>> = {
  'members of one object': (size) => `{${list(size, (index) => `"k${index}":1`)}}`,
  'the same member again': (size) => `{${list(size, () => '"a":1')}}`,
  'numbered members': (size) => `{${list(size, (index) => `"${index * 7}":1`)}}`,
  'members called __proto__': (size) => `[${list(size, () => '{"__proto__":{"a":1}}')}]`,
  'small objects': (size) => `[${list(size, () => '{"a":1}')}]`,
  'objects of many shapes': (size) => `[${list(size, (index) => `{"k${index}":1}`)}]`,
  'shapes of few names': (size) =>
    `[${list(size, (index) => `{"${index % 97}x":1,"${index % 89}y":1,"${index % 83}z":1}`)}]`,
  'long names': (size) => `{${list(size, (index) => `"${'n'.repeat(1_000)}${index}":1`)}}`,
  numbers: (size) => `[${list(size, () => '1')}]`,
  'long numbers': (size) => `[${list(size, (index) => `12345678901234567${index}`)}]`,
  'one long number': (size) => '1'.repeat(size),
  'almost long numbers': (size) => `"${'123456789012345 '.repeat(size / 16)}"`,
  fractions: (size) => `[${list(size, () => '0.12345678901234567')}]`,
  'empty lists': (size) => `[${list(size, () => '[]')}]`,
  'empty strings': (size) => `[${list(size, () => '""')}]`,
  'nested lists': (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
  'nested objects': (size) => `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`,
  'nesting at the limit': (size) => `[${list(size, () => `${'['.repeat(180)}${']'.repeat(180)}`)}]`,
  'white space': (size) => `[${' '.repeat(size)}]`,
  'a string': (size) => `"${'a'.repeat(size)}"`,
  'a string of words': (size) => `"${'to be or not to be, '.repeat(size / 20)}"`,
  'a string of other letters': (size) => `"${'語'.repeat(size / 3)}"`,
  'line feeds': (size) => `"${'\\n'.repeat(size / 2)}"`,
  quotes: (size) => `"${'\\"'.repeat(size / 2)}"`,
  backslashes: (size) => `"${'\\\\'.repeat(size / 2)}"`,
  'escaped letters': (size) => `"${'\\u8a9e'.repeat(size / 6)}"`,
  'half pairs': (size) => `"${'\\ud800'.repeat(size / 6)}"`,
  'an open string': (size) => `"${'a'.repeat(size)}`,
  'an open list': (size) => '[1,'.repeat(size / 3),
};

/** Entries up to a size, with commas. */
function list(size: number, entry: (index: number) => string): string {
  const entries: string[] = [];
  for (let length = 0; length < size; length += (entries.at(-1) as string).length + 1)
    entries.push(entry(entries.length));
  return entries.join(',');
}
