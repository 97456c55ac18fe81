import { describe, expect, it } from 'vitest';
import { mutantsIn } from './mutants.ts';
import { sample } from './sample.ts';

const changesOf = (source: string) => mutantsIn('x.ts', source).map(({ after }) => after);

describe('the mutants of a source', () => {
  it.each([
    ['a < b', ['(a) <= (b)']],
    ['a === b', ['(a) !== (b)']],
    ['a ?? b', ['((a) && (b))']],
    ["a + 'b'", []],
    ['a * 2', ['(a) / (2)', 'a * 3', 'a * 0']],
    ['Math.max(a, b)', [';', 'Math.min(a, b)']],
    ['void stop()', [';']],
    ['const delay = 5_000', ['const delay = 5000000', 'const delay = 5']],
    ['const isOpen = true', ['const isOpen = false']],
    ['const timer = setTimeout(end, delay)', ['const timer = setTimeout(end, (delay) * 1000)']],
    [
      'const pool = new Pool({ url, query_timeout: limit })',
      ['const pool = new Pool({ ...{}, query_timeout: limit })', 'const pool = new Pool({ url, ...{} })'],
    ],
    ["import 'x'; type A = 1;", []],
  ])('of %s are %j', (source, changes) => {
    expect(changesOf(source)).toEqual(changes);
  });

  it('lose early exits, not the last statement', () => {
    expect(changesOf('function f() { if (a) return 1; return b; }')).toEqual([
      'function f() { if (!(a)) return 1; return b; }',
      'function f() { if (a) ; return b; }',
      'function f() { if (a) return 2; return b; }',
      'function f() { if (a) return 0; return b; }',
    ]);
  });

  it('name the line that they change', () => {
    const [mutant] = mutantsIn('x.ts', 'first;\n  a && b;\n');
    expect(mutant).toMatchObject({
      line: 2,
      before: 'a && b;',
      after: '((a) || (b));',
      source: 'first;\n  ((a) || (b));\n',
    });
  });
});

describe('a sample of mutants', () => {
  const mutants = mutantsIn('x.ts', Array.from({ length: 50 }, (_, i) => `f(${i + 20});`).join('\n'));

  it('is the same for the same seed, in a file with more lines too', () => {
    const moved = mutants.map((mutant) => ({ ...mutant, line: mutant.line + 5 }));
    const before = sample(mutants, 9, '1').map(({ after }) => after);
    expect(sample(moved, 9, '1').map(({ after }) => after)).toEqual(before);
  });

  it('is another one for another seed', () => {
    expect(sample(mutants, 9, '1')).not.toEqual(sample(mutants, 9, '2'));
  });
});
