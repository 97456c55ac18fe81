import { expect, it } from 'vitest';
import { findClosestName } from '#core/config/file/mistake.ts';

it('a name is compared with others only as long as it may be a typo of one', () => {
  const name = `provider/${'x'.repeat(80)}`;
  expect(findClosestName(name, [`${name}y`])).toBe(`${name}y`);
  const longer = name.repeat(10);
  expect(findClosestName(longer, [`${longer}y`])).toBeUndefined();
});
