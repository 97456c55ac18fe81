import { InvalidArgumentError } from 'commander';

const control = /\p{Cc}/u;

export function parseLine(text: string): string {
  const line = text.trim();
  if (line === '') throw new InvalidArgumentError('It must not be empty.');
  if (line.length > 200) throw new InvalidArgumentError('It must have at most 200 characters.');
  if (control.test(line)) throw new InvalidArgumentError('It must not contain control characters.');
  return line;
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
