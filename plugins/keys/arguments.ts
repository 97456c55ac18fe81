import { InvalidArgumentError } from 'commander';

const control = /\p{Cc}/u;

/** A line of text for people. */
export function parseLine(text: string): string {
  const line = text.trim();
  if (line === '') throw new InvalidArgumentError('it is empty.');
  if (line.length > 200) throw new InvalidArgumentError('it is longer than 200 characters.');
  if (control.test(line)) throw new InvalidArgumentError('it has control characters in it.');
  return line;
}

export function parseEmail(text: string): string {
  const address = parseLine(text);
  if (!/^[^\s@]+@[^\s@]+$/.test(address)) throw new InvalidArgumentError('it is no e-mail address.');
  return address;
}

export function parseWhole(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`it has to be a whole number from ${minimum} to ${maximum}.`);
  };
}
