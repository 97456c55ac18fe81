import { describe, expect, it } from 'vitest';
import { freeBytes, lendBytes, reclaimBytes } from '#core/platform/memory/freed-bytes.ts';

describe('freed bytes', () => {
  it('freed bytes are empty for everybody who has a view of them', () => {
    const bytes = Buffer.allocUnsafeSlow(100);
    const view = bytes.subarray(10);
    freeBytes([bytes]);
    expect([bytes.length, view.length]).toEqual([0, 0]);
  });

  it('freed bytes are never a part of a larger memory, which others use', () => {
    const whole = Buffer.from('abcdef');
    freeBytes([whole.subarray(0, 3)]);
    expect(whole.toString()).toBe('abcdef');
  });

  it('bytes are not freed while the system still reads them', () => {
    const bytes = Buffer.allocUnsafeSlow(100);
    const slices = [bytes.subarray(0, 50), bytes.subarray(50)];
    lendBytes(slices);
    lendBytes(slices);
    reclaimBytes(slices);
    freeBytes([bytes]);
    expect(bytes.length).toBe(100);
    reclaimBytes(slices);
    freeBytes([bytes]);
    expect(bytes.length).toBe(0);
  });

  it('freed bytes are not lent', () => {
    const bytes = Buffer.allocUnsafeSlow(100);
    freeBytes([bytes]);
    expect(() => lendBytes([bytes])).toThrow('the bytes have been freed');
  });
});
