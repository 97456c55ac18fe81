/** Finds the command's name before the parser is loaded; undefined if there is none. */
export function findCommandWord(args: readonly string[]): string | undefined {
  return args.find((word, index) => !word.startsWith('-') && !/^(-c|--config)$/.test(args[index - 1] ?? ''));
}
