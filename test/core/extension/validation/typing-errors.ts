import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** What a tired operator mistypes. */
interface TypingError {
  readonly name: string;
  /** The text of the intact file that is replaced by `typed`. */
  readonly meant: string;
  readonly typed: string;
  /** Every line that the operator reads, without the name of the file. */
  readonly answer: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
}

interface Table {
  /** A valid gateway.yaml, with most of what an operator writes. */
  readonly intact: string;
  readonly errors: readonly TypingError[];
}

const file = join(import.meta.dirname, 'typing-errors.yaml');

export const { intact, errors: typingErrors } = parse(readFileSync(file, 'utf8')) as Table;
