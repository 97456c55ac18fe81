import { describe, expect, it } from 'vitest';
import type { CheckContext } from '#core/config/section.ts';
import { paymentsSection } from '#core/payments/section.ts';

function mistakes(baseUrl: string | undefined, isProduction: boolean): string[] {
  const found: string[] = [];
  const paymentProviders = new Map([['midtrans', { name: 'midtrans', currencies: ['IDR'] }]]);
  const context = { get: () => ({ base_url: baseUrl }), isProduction, paymentProviders, hasAllPlugins: true };
  const report = (path: readonly (string | number)[], wrong: string) => void found.push(`${path.join('.')} ${wrong}`);
  paymentsSection.check?.(
    { provider: 'midtrans', order_minutes: 30, keep_notifications_days: 730 },
    report,
    context as unknown as CheckContext,
  );
  return found;
}

describe('a provider that takes money', () => {
  it.each([
    [undefined, 'is notified at service.base_url, which is not set'],
    ['', 'is notified at service.base_url, which is not set'],
    ['http://ai.example', 'is notified at service.base_url, which is not HTTPS'],
  ])('is refused in production with the public URL %j', (baseUrl, wrong) => {
    expect(mistakes(baseUrl, true)).toEqual([`payments.provider ${wrong}`]);
    expect(mistakes(baseUrl, false)).toEqual([]);
  });

  it('is accepted in production with HTTPS', () => {
    expect(mistakes('https://ai.example', true)).toEqual([]);
  });
});
