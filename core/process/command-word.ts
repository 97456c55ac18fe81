/** Finds the name of the command before the parser is loaded; undefined without a command. */
export function findCommandWord(args: readonly string[]): string | undefined {
  return args.find((word, index) => !word.startsWith('-') && !/^(-c|--config)$/.test(args[index - 1] ?? ''));
}
