import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { redeemPage } from '../../../plugins/vouchers/redeem-page.ts';

it('the menu of the account has the page while there is a code to redeem, looked up once a minute', async () => {
  let [open, now, looks] = [true, 0, 0];
  const query = () => {
    looks++;
    return Promise.resolve(open ? [1] : []);
  };
  const database = { query } as never;
  const host = Object.assign(createTestHost({ database }), { monotonic: () => now });
  const isListed = () => redeemPage.isListed?.(host);
  expect(isListed()).toBe(false);
  await expect.poll(isListed).toBe(true);
  open = false;
  now = 59_999;
  expect([isListed(), looks]).toEqual([true, 1]);
  now = 60_000;
  await expect.poll(isListed).toBe(false);
});
