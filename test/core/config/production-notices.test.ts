import { describe, expect, it } from 'vitest';
import type { Config } from '#core/config/load.ts';
import { productionNotices } from '#core/config/production-notices.ts';
import { service } from '#core/config/sections.ts';

function noticesOf(contact: string, provider: string | undefined, isProduction = true): string[] {
  const get = (section: unknown) => (section === service ? { contact } : { provider });
  return productionNotices({ get } as unknown as Config, isProduction);
}

describe('a configuration for production', () => {
  it('that sells nothing is noted', () => {
    expect(noticesOf('mailto:help@ai.example', undefined)).toEqual([
      'nothing is sold: payments.provider is not set, and NODE_ENV=production has no sandbox',
    ]);
  });

  it('with the contact of the example is noted', () => {
    expect(noticesOf('mailto:you@example.com', 'midtrans')).toEqual([
      'service.contact is the example mailto:you@example.com: customers who need help write there',
    ]);
  });

  it('is noted in production only', () => {
    expect(noticesOf('mailto:you@example.com', undefined, false)).toEqual([]);
  });
});
