import { describe, expect, it } from 'vitest';
import { parseNetwork } from '#core/gateway/http/network.ts';
import { bounds } from '#core/platform/bounds.ts';
import { FailedAuthentications } from '../../plugins/auth/failures.ts';

describe('the network of a caller', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0'],
    [undefined, ''],
  ])('of %s is %s', (address, network) => {
    expect(parseNetwork(address)).toBe(network);
  });
});

describe('failed authentications', () => {
  const limits = { limit: 3, period: 60 };
  let now = 0; // ms
  const counted = (times: number, failures = new FailedAuthentications(() => now)) => {
    for (let time = 0; time < times; time++) failures.countFailure('192.0.2.7', limits);
    return failures;
  };

  it('failures up to the limit are allowed', () => {
    expect(counted(2).getWaitSeconds('192.0.2.7', limits)).toBe(0);
    expect(counted(3).getWaitSeconds('192.0.2.7', limits)).toBe(20);
  });

  it('failures are forgotten at the rate of the limit', () => {
    const failures = counted(3);
    now += 19_999;
    expect(failures.getWaitSeconds('192.0.2.7', limits)).toBeCloseTo(0.001, 5);
    now += 1;
    expect(failures.getWaitSeconds('192.0.2.7', limits)).toBe(0);
  });

  it('a thousand failures at once do not refuse for longer than a burst at the limit', () => {
    expect(counted(1_000).getWaitSeconds('192.0.2.7', limits)).toBeLessThanOrEqual(40);
  });

  it('failures are kept for a bounded number of networks', () => {
    const failures = counted(3);
    for (let network = 0; network < bounds.failingNetworks; network++) {
      failures.countFailure(`10.${network >> 16}.${(network >> 8) & 255}.${network & 255}`, limits);
    }
    expect(failures.getWaitSeconds('192.0.2.7', limits)).toBe(0);
  });
});
