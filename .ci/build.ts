/**
 * Builds the package to publish: the sources as JavaScript with source maps, the declarations that other programs can import, and every
 * file that is not TypeScript. Node.js does not strip types under node_modules, so a package cannot contain the sources.
 *
 *     node .ci/build.ts [FOLDER]     default: dist; its content is replaced
 */
import { execFile } from 'node:child_process';
import { cp, glob, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..');
const out = resolve(process.argv[2] ?? join(root, 'dist'));

await rm(out, { recursive: true, force: true });
await compile();
await removeInnerDeclarations();
// Copies after compiling, because the compiler reformats the JSON files that it imports.
for (const folder of ['core', 'plugins', 'migrations', 'views'])
  await cp(join(root, folder), join(out, folder), { recursive: true, filter: (path) => !path.endsWith('.ts') });
await cp(join(root, 'gateway.yaml'), join(out, 'gateway.yaml'));
await writeFile(join(out, 'package.json'), `${JSON.stringify(await createInnerManifest(), null, 2)}\n`);

async function compile(): Promise<void> {
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  const project = join(root, '.ci', 'tsconfig.build.json');
  const environment = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(':') };
  try {
    await promisify(execFile)(compiler, ['--project', project, '--outDir', out], { env: environment });
  } catch (error) {
    const { stdout = '' } = error as { readonly stdout?: string };
    console.error(stdout.split('\n').slice(0, 20).join('\n'));
    throw new Error('the sources could not be compiled; run npm run check:types', { cause: error });
  }
}

/** Only an eighth of the declarations are reachable from the package's entries. The others would double the number of files. */
async function removeInnerDeclarations(): Promise<void> {
  const kept = new Set(['core/index.d.ts', 'core/extension/testing/index.d.ts'].map((entry) => join(out, entry)));
  for (const file of kept) {
    for (const [, specifier = ''] of (await readFile(file, 'utf8')).matchAll(/["']((?:\.{1,2}|#core)\/[^"']+)["']/g)) {
      const target = specifier.startsWith('#') ? join(out, specifier.slice(1)) : join(dirname(file), specifier);
      if (/\.[jt]s$/.test(target)) kept.add(target.replace(/\.[jt]s$/, '.d.ts'));
    }
  }
  for await (const file of glob('**/*.d.ts', { cwd: out })) if (!kept.has(join(out, file))) await rm(join(out, file));
}

/** In the build, `#core/x.ts` is the file `core/x.js`. */
async function createInnerManifest() {
  const { name, version, type } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  return { name, version, private: true, type, imports: { '#core/*.ts': './core/*.js', '#core/*': './core/*' } };
}
