import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
/** What Node.js 26 has and 24 does not, which is supported as well; the compiler knows all of it. */
const lacking = /\.getOrInsert(?:Computed)?\(|\bTemporal\.|\bMath\.sumPrecise\(|\bIterator\.concat\(/;

it('the gateway uses nothing of the language that its oldest Node.js lacks', () => {
  const files = globSync('{core,plugins,migrations}/**/*.{ts,mjs}', { cwd: root });
  expect(files.length).toBeGreaterThan(1_000);
  expect(files.filter((file) => lacking.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
