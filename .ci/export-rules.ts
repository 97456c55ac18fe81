/** Finds exported names that no one imports, or only tests. */
import { dirname } from 'node:path';

export interface UnusedExport {
  readonly file: string;
  readonly name: string;
}

const declared =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
/** `import { a, type b as c } from '…'`, and the same with `export`. */
const named = /^(?:import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?\{([^}]*)\}\s*from\s+'([^']+)'/gm;
/** Forms that may use every name of a module. */
const whole =
  /^(?:import|export)\s+\*(?:\s+as\s+\w+)?\s+from\s+'([^']+)'|(?:Object\.values\(await |\(\(\) => )import\('([^']+)'\)\)/gm;
/** A dynamic import uses the names that a module next to it mentions, because one module may load them for others. */
const late = /\bimport\('([^']+)'\)/g;
/** The loaders of plugins, migrations, tools and the test kit read these. The setup script's programs are joined into one text. */
const contracts =
  /^core\/index\.ts$|^core\/extension\/testing\/index\.ts$|^plugins\/[^/]+\/index\.ts$|\/migrations\/|^plugins\/setup\/(?:tools\/|script\/.*\.mjs$)/;

/** `sources` is the text of every module by path, including tests and tools. */
export function findUnusedExports(
  sources: ReadonlyMap<string, string>,
  resolve: (file: string, specifier: string) => string,
): UnusedExport[] {
  const used = new Set<string>();
  const open = new Set<string>();
  const readers = new Map<string, string[]>(); // by file: folders of the modules that import it dynamically
  for (const [file, text] of sources) {
    for (const [, names = '', specifier = ''] of text.matchAll(named))
      for (const name of namesOf(names)) used.add(`${resolve(file, specifier)} ${name}`);
    for (const [, listed, values] of text.matchAll(whole)) open.add(resolve(file, listed ?? values ?? ''));
    for (const [, specifier = ''] of text.matchAll(late)) {
      const target = resolve(file, specifier);
      readers.set(target, [...(readers.get(target) ?? []), dirname(file)]);
    }
  }
  const isNamed = (file: string, name: string) => {
    const word = new RegExp(`\\b${name}\\b`);
    const folders = readers.get(file) ?? [];
    return [...sources].some(([path, text]) => path !== file && folders.includes(dirname(path)) && word.test(text));
  };
  return [...sources]
    .filter(([file]) => /^(core|plugins)\//.test(file) && !contracts.test(file) && !open.has(file))
    .flatMap(([file, text]) =>
      [...text.matchAll(declared)]
        .map(([, name = '']) => ({ file, name }))
        .filter(({ name }) => !used.has(`${file} ${name}`) && !isNamed(file, name)),
    );
}

export function findTestedOnly(
  sources: ReadonlyMap<string, string>,
  resolve: (file: string, specifier: string) => string,
): UnusedExport[] {
  const others = new Map([...sources].filter(([file]) => !file.startsWith('test/')));
  return findUnusedExports(others, resolve).filter(({ file, name }) => {
    const code = (sources.get(file) ?? '').replace(/^\s*(?:\/?\*|\/\/).*/gm, '');
    return [...code.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length === 1;
  });
}

function namesOf(list: string): string[] {
  return list
    .split(',')
    .map(
      (part) =>
        part
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+as\s+/)[0] ?? '',
    )
    .filter((name) => name !== '');
}
