import { describe, expect, test } from 'vitest';
import { exitCodeOf, exitCodes } from '#core/platform/exit-codes.ts';

const failWith = (exitCode: unknown) => Object.assign(new Error('refused'), { exitCode });

describe('the exit code of an error', () => {
  test('is the one that the error has', () => {
    expect(exitCodeOf(failWith(exitCodes.configuration))).toBe(78);
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['text', '2'],
    ['zero', 0],
    ['a fraction', 1.5],
    ['256, which an exit truncates to 0', 256],
    ['negative', -1],
  ])('is failure if its own is %s', (_, exitCode) => {
    expect(exitCodeOf(failWith(exitCode))).toBe(exitCodes.failure);
  });

  test('is failure for an error without one, and for a value that is no error', () => {
    expect(exitCodeOf(new Error('refused'))).toBe(exitCodes.failure);
    expect(exitCodeOf({ exitCode: 2 })).toBe(exitCodes.failure);
  });
});
