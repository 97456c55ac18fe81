import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob } from '#core/config/catalog/glob.ts';

describe('a pattern of names', () => {
  it.each([
    ['gpt-5', 'gpt-5', true],
    ['gpt-5', 'gpt-5-mini', false],
    ['gpt-*', 'gpt-', true],
    ['*-mini', 'gpt-mini', true],
    ['a*a', 'a', false],
    ['ab*ba', 'aba', false],
    ['a*b*b', 'ab', false],
    ['a*b*b', 'abb', true],
    ['a**b', 'ab', true],
    ['*', '', true],
    ['', '', true],
    ['o.*', 'o3', false],
    ['a*', 'a\nb', true],
  ])('%s for %s is %s', (pattern, name, isMatch) => {
    expect(compileGlob(pattern)(name)).toBe(isMatch);
  });

  it('matches what a regular expression matches', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    const names = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
    fc.assert(
      fc.property(letters, names, (pattern, name) => {
        expect(compileGlob(pattern)(name)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name));
      }),
    );
  });

  it('matches as fast with many wildcards as with few', () => {
    // A backtracking search would try about 10²⁰ ways.
    const matches = compileGlob(`${'a*'.repeat(20)}z`);
    const before = process.threadCpuUsage();
    for (let round = 0; round < 1_000; round++) matches('a'.repeat(256));
    // Other threads of this process run other files.
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});
