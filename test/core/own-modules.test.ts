import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findOwnModule, findPackageModule } from '../../core/own-modules.mjs';

const root = join(import.meta.dirname, '..', '..');
const urlOf = (path: string) => pathToFileURL(join(root, path)).href;

describe('an import of a module of the gateway', () => {
  it('leads to a file, in every source', () => {
    const found = globSync('{core,plugins,migrations}/**/*.ts', { cwd: root }).flatMap((path) => {
      const specifiers = readFileSync(join(root, path), 'utf8').matchAll(
        /(?:from|import\() ?'((?:#core|\.)[^']*\.ts)'/g,
      );
      return [...specifiers].map(([, specifier = '']) => [path, specifier, findOwnModule(specifier, urlOf(path))]);
    });
    expect(found.length).toBeGreaterThan(2_000);
    expect(found.filter(([, , url]) => url === undefined || !existsSync(fileURLToPath(url)))).toEqual([]);
  });

  it('is that of Node.js', () => {
    expect(findOwnModule('#core/main.ts', urlOf('plugins/auth/index.ts'))).toBe(import.meta.resolve('#core/main.ts'));
    expect(findOwnModule('../log/index.ts', urlOf('plugins/auth/index.ts'))).toBe(urlOf('plugins/log/index.ts'));
  });
});

describe('an import of a file of the same package', () => {
  const importer = urlOf('node_modules/@mikro-orm/core/MikroORM.js');

  it('leads to the file that Node.js finds', () => {
    const url = import.meta.resolve('@mikro-orm/core');
    expect(findPackageModule('./index.js', importer)).toBe(url);
    expect(findPackageModule('../index.js', urlOf('node_modules/@mikro-orm/core/utils/index.js'))).toBe(url);
  });

  it('is left to Node.js where a folder or a link has the name', async () => {
    const home = await mkdtemp(join(tmpdir(), 'daypass-modules-'));
    onTestFinished(() => rm(home, { recursive: true }));
    const folder = join(home, 'node_modules', 'lib');
    await mkdir(join(folder, 'folder.js'), { recursive: true });
    await writeFile(join(folder, 'file.js'), '');
    await symlink('file.js', join(folder, 'link.js'));
    const from = pathToFileURL(join(folder, 'index.js')).href;
    expect(findPackageModule('./file.js', from)).toBe(pathToFileURL(join(folder, 'file.js')).href);
    expect(findPackageModule('./folder.js', from)).toBeUndefined();
    expect(findPackageModule('./link.js', from)).toBeUndefined();
  });

  it.each([
    ['./missing.js', importer],
    ['./package.json', importer],
    ['./index', importer],
    ['.', importer],
    ['ajv', importer],
    ['./index.js', urlOf('core/index.ts')],
    ['./index.js', undefined],
  ])('as %s by %s is left to Node.js', (specifier, from) => {
    expect(findPackageModule(specifier, from)).toBeUndefined();
  });
});

it.each([
  ['#core/index.ts', urlOf('my-plugin.ts')],
  ['./helper.ts', pathToFileURL('/srv/gateway/plugin.ts').href],
  ['./lib/index.js', urlOf('node_modules/ajv/dist/ajv.js')],
  ['./missing.ts', urlOf('core/index.ts')],
  ['#core/missing.ts', urlOf('plugins/auth/index.ts')],
  ['#core/index.ts', undefined],
  ['ajv', urlOf('core/index.ts')],
  ['./words.json', urlOf('core/index.ts')],
])('the import of %s by %s is left to Node.js', (specifier, importer) => {
  expect(findOwnModule(specifier, importer)).toBeUndefined();
});
