import { InvalidArgumentError } from 'commander';

/** @returns a parser of integers from 1 to `maximum` */
export function parseCount(maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= 1 && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be an integer from 1 to ${maximum}.`);
  };
}
