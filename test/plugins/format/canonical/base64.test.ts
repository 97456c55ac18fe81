import { describe, expect, it } from 'vitest';
import { toStandardBase64 } from '../../../../plugins/format/canonical/media.ts';

describe('base64', () => {
  it.each([
    ['-_-_', '+/+/'],
    ['-_8', '+/8='],
    ['-w', '+w=='],
    ['+w', '+w=='],
    ['AA\r\nAA', 'AAAA'],
    ['-w==\n', '+w=='],
    ['', ''],
  ])('%j becomes %j', (given, standard) => {
    expect(toStandardBase64(given, 'p')).toBe(standard);
  });

  it('standard base64 is returned unchanged', () => {
    expect(toStandardBase64('AA+/', 'p')).toBe('AA+/');
    expect(toStandardBase64('+w==', 'p')).toBe('+w==');
  });

  it.each(['A', 'AAAAA', 'A=A=', 'AA%3D', 'ä', 'AA====', '===='])(
    'malformed base64 is refused with its path: %j',
    (given) => {
      expect(() => toStandardBase64(given, 'contents[0].data')).toThrow(/contents\[0\]\.data.*base64/);
    },
  );
});
