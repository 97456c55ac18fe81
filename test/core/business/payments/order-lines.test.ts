import { describe, expect, it } from 'vitest';
import { describeOrderLine } from '#core/business/payments/order-lines.ts';

const linkOf = (path: string, baseUrl?: string) =>
  describeOrderLine({ label: { en: 'Terms', id: 'Ketentuan' }, text: { en: '2', id: '2' }, path }, 'en', baseUrl).path;

describe("a plugin's line about an order", () => {
  it.each(['/', '/terms', '/terms/v2?a=1#b', 'https://terms.example/v2'])('links to %j', (path) => {
    expect(linkOf(path)).toBe(path);
  });

  it.each([
    '//other.example',
    '/\\other.example',
    '/\t/other.example',
    '/\n/other.example',
    'http://terms.example',
    'javascript:alert(1)',
  ])('does not link to %j, which is neither a path of this gateway nor https', (path) => {
    expect(linkOf(path)).toBe('');
  });

  it('links to the full URL of a path in an email', () => {
    expect(linkOf('/terms', 'https://gateway.example')).toBe('https://gateway.example/terms');
  });
});
