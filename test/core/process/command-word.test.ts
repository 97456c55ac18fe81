import { expect, it } from 'vitest';
import { findCommandWord } from '#core/process/command-word.ts';

it.each([
  ['start', 'start'],
  ['start --open', 'start'],
  ['-c check start', 'start'],
  ['--config start check --watch', 'check'],
  ['--config=start check', 'check'],
  ['-cstart check', 'check'],
  ['account show check', 'account'],
  ['voucher create --note start', 'voucher'],
  ['--help', undefined],
  ['', undefined],
])('the command of "daypass %s" is %s', (line, expected) => {
  expect(findCommandWord(line.split(' ').filter(Boolean))).toBe(expected);
});
