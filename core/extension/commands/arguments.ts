import { InvalidArgumentError } from 'commander';

const controlCharacter = /\p{Cc}/u;

export function createLineParser(maxLength: number): (text: string) => string {
  return (text) => {
    const line = text.trim();
    if (line === '') throw new InvalidArgumentError('It must not be empty.');
    if (line.length > maxLength) throw new InvalidArgumentError(`It must have at most ${maxLength} characters.`);
    if (controlCharacter.test(line)) throw new InvalidArgumentError('It must not contain control characters.');
    return line;
  };
}

export const parseLine = createLineParser(200);

export function parseEmail(text: string): string {
  const address = parseLine(text);
  if (!/^[^\s@]+@[^\s@]+$/.test(address))
    throw new InvalidArgumentError('It must be an e-mail address, for example ani@example.com.');
  return address;
}

const defineNumberParser = (kind: string, pattern: RegExp) => (minimum: number, maximum: number) => (text: string) => {
  const value = pattern.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw new InvalidArgumentError(`It must be ${kind} from ${minimum} to ${maximum}.`);
};

export const parseInteger = defineNumberParser('an integer', /^-?\d{1,15}$/);
export const parseNumber = defineNumberParser('a number', /^-?\d{1,15}(?:\.\d{1,15})?$/);
