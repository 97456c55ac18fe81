import { expect, it } from 'vitest';
import { SocketCounts } from '../../../../plugins/format/socket/socket-counts.ts';

it('an owner has as many open sockets as it may, and another one its own', () => {
  const counts = new SocketCounts();
  const close = counts.addSocket('a', 2);
  expect(counts.addSocket('a', 2)).toBeDefined();
  expect(counts.addSocket('a', 2)).toBeUndefined();
  expect(counts.addSocket('b', 2)).toBeDefined();
  close?.();
  close?.();
  expect(counts.addSocket('a', 2)).toBeDefined();
  expect(counts.addSocket('a', 2)).toBeUndefined();
});
