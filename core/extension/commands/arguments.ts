import { InvalidArgumentError } from 'commander';

const control = /\p{Cc}/u;

/**
 * Creates a parser of one-line arguments.
 *
 * @param longest maximum number of characters of a line
 */
export function lineParser(longest: number): (text: string) => string {
  return (text) => {
    const line = text.trim();
    if (line === '') throw new InvalidArgumentError('It must not be empty.');
    if (line.length > longest) throw new InvalidArgumentError(`It must have at most ${longest} characters.`);
    if (control.test(line)) throw new InvalidArgumentError('It must not contain control characters.');
    return line;
  };
}

const parseUsual = lineParser(200);

export function parseLine(text: string): string {
  return parseUsual(text);
}

export function parseEmail(text: string): string {
  const address = parseLine(text);
  if (!/^[^\s@]+@[^\s@]+$/.test(address))
    throw new InvalidArgumentError('It must be an e-mail address, for example ani@example.com.');
  return address;
}

export function parseInteger(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be an integer from ${minimum} to ${maximum}.`);
  };
}

export function parseNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a number from ${minimum} to ${maximum}.`);
  };
}
