import { describe, expect, it } from 'vitest';
import { digestApiKey, generateApiKey, isApiKey, maskApiKey } from '#core/business/accounts/api-key.ts';

describe('an API key', () => {
  it('is the prefix, a hyphen, letters and digits', () => {
    expect(generateApiKey('dp')).toMatch(/^dp-[\dA-Za-z]{49}$/);
  });

  it('differs each time', () => {
    const keys = new Set(Array.from({ length: 1_000 }, () => generateApiKey('dp')));
    expect(keys.size).toBe(1_000);
  });

  it('is recognised by its form and checksum', () => {
    expect(isApiKey(generateApiKey('dp'), 'dp')).toBe(true);
  });

  it('is recognised with the underscore that the first keys had', () => {
    const key = 'dp_8UUVQZo4ZXwl5g0FiLPlfMgDxRzgQt0sVy3wXh0Vg9j3iGLet';
    expect(isApiKey(key, 'dp')).toBe(true);
    expect(isApiKey(key.replace('_', '-'), 'dp')).toBe(false);
    expect(maskApiKey(key, 'dp')).toBe('dp_8UUV…GLet');
  });

  it('is not recognised under another prefix', () => {
    expect(isApiKey(generateApiKey('dp'), 'xy')).toBe(false);
  });

  it('is not recognised with any one character changed', () => {
    const key = generateApiKey('dp');
    const misspelt = Array.from({ length: key.length }, (_, index) => {
      const other = key[index] === 'a' ? 'b' : 'a';
      return key.slice(0, index) + other + key.slice(index + 1);
    });
    expect(misspelt.filter((text) => isApiKey(text, 'dp'))).toEqual([]);
  });

  it('is not recognised in another case, truncated or extended', () => {
    const key = generateApiKey('dp');
    const texts = ['', 'dp-', key.toUpperCase(), key.slice(0, -1), `${key}a`, ` ${key}`, key.repeat(20_000)];
    expect(texts.filter((text) => isApiKey(text, 'dp'))).toEqual([]);
  });

  it('has four characters of each end in its hint', () => {
    const key = generateApiKey('dp');
    expect(maskApiKey(key, 'dp')).toBe(`dp-${key.slice(3, 7)}…${key.slice(-4)}`);
  });

  it('is stored as a SHA-256', () => {
    expect(digestApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
