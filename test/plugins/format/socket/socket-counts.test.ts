import { expect, it } from 'vitest';
import { SocketCounts } from '../../../../plugins/format/socket/socket-counts.ts';

it('an owner has as many open sockets as it may, and another one its own', () => {
  const counts = new SocketCounts();
  const close = counts.open('a', 2);
  expect(counts.open('a', 2)).toBeDefined();
  expect(counts.open('a', 2)).toBeUndefined();
  expect(counts.open('b', 2)).toBeDefined();
  close?.();
  close?.();
  expect(counts.open('a', 2)).toBeDefined();
  expect(counts.open('a', 2)).toBeUndefined();
});
