import { expect, it } from 'vitest';
import { determineSeverity } from '../../../plugins/data-requests/problem.ts';

const hour = 3_600_000;
const receivedAt = new Date(0);
const dueAt = new Date(72 * hour);

it.each([
  [0, 'info'],
  [23, 'info'],
  [24, 'warn'],
  [59, 'warn'],
  [60, 'bad'],
  [72, 'bad'],
  [1_000, 'bad'],
])('a request of 72 hours is %i hours after it came: %s', (hours, severity) => {
  expect(determineSeverity({ receivedAt, dueAt }, hours * hour)).toBe(severity);
});
