import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveSpecifier } from '../../.ci/module-graph.ts';

const root = join(import.meta.dirname, '..', '..');
const statement = /^(?:import|export)\s+(?!type\b)(?:[^;'"]*?\sfrom\s+)?'([^']+)'/gm;
const server = /^const .*getBuiltinModule\('node:https?'\)/m;

/** Packages and modules that `daypass check` loads before its command runs: those of the command line and of all plugins. */
function readCommandModules(): { packages: Set<string>; files: Set<string> } {
  const files = new Set(['core/process/command-line.ts', ...globSync('plugins/*/index.ts', { cwd: root })]);
  const packages = new Set<string>();
  for (const file of files) {
    if (!file.endsWith('.ts')) continue;
    for (const [, specifier = ''] of readFileSync(join(root, file), 'utf8').matchAll(statement)) {
      const target = resolveSpecifier(file, specifier);
      if (target === '') packages.add(specifier);
      else files.add(target);
    }
  }
  return { packages, files };
}

test('commands load neither hapi, MikroORM nor the server of Node.js, which would be a fifth of the time of daypass check', () => {
  const { packages, files } = readCommandModules();
  expect(packages).toContain('yaml');
  expect([...packages].filter((name) => name === '@hapi/hapi' || name.startsWith('@mikro-orm/'))).toEqual([]);
  expect(
    [...files].filter((file) => file.endsWith('.ts') && server.test(readFileSync(join(root, file), 'utf8'))),
  ).toEqual([]);
});
