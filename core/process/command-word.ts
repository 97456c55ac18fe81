/** Finds the command in the words of a command line before the parser is loaded; undefined without a command. */
export function commandWord(words: readonly string[]): string | undefined {
  return words.find((word, index) => !word.startsWith('-') && !/^(-c|--config)$/.test(words[index - 1] ?? ''));
}
