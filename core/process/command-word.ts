/** The command among the words of a command line, before its parser is loaded. Undefined without one. */
export function commandWord(words: readonly string[]): string | undefined {
  return words.find((word, index) => !word.startsWith('-') && !/^(-c|--config)$/.test(words[index - 1] ?? ''));
}
