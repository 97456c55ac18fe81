import { describe, expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/index.ts';
import { passRateLimit } from '../../../plugins/sign-in/admit.ts';
import { chooseNextPath } from '../../../plugins/sign-in/next-path.ts';

async function begin(addresses: readonly string[]): Promise<boolean[]> {
  await using host = createTestHost();
  const allowed = [];
  for (const address of addresses) allowed.push(await passRateLimit(host, address));
  return allowed;
}

const sixty = (address: (index: number) => string) => Array.from({ length: 60 }, (_, index) => address(index));

describe('a network', () => {
  it('begins sixty sign-ins a minute, from whichever addresses of its /64', async () => {
    const allowed = await begin([
      ...sixty((index) => `2001:db8:1:2::${index.toString(16)}`),
      '2001:db8:1:2:ffff::1',
      '2001:db8:1:3::1',
    ]);
    expect([allowed.slice(0, 60).every(Boolean), allowed.slice(60)]).toEqual([true, [false, true]]);
  });

  it('is one address of IPv4', async () => {
    const allowed = await begin([...sixty(() => '192.0.2.1'), '192.0.2.1', '192.0.2.2']);
    expect(allowed.slice(60)).toEqual([false, true]);
  });
});

describe('the page after the sign-in', () => {
  it.each([
    [undefined, '/dashboard'],
    ['/', '/dashboard'],
    ['/sign-in', '/dashboard'],
    ['/sign-in?next=/buy', '/dashboard'],
    ['/sign-in/google', '/dashboard'],
    ['/sign-out', '/dashboard'],
    ['/sign-ins', '/sign-ins'],
    ['/sign-in-help', '/sign-in-help'],
    ['/account/sign-ins', '/account/sign-ins'],
    ['/buy?days=7', '/buy?days=7'],
    ['//evil.example', '/dashboard'],
    ['https://evil.example', '/dashboard'],
  ])('%s: %s', (asked, expected) => {
    expect(chooseNextPath(asked)).toBe(expected);
  });
});
