import type { SourceTree } from './source-tree.ts';

/** Which files contain which words, in the forms that matter for pages. Built once, it serves every tree that lacks some of the files. */
export interface PageIndex {
  readonly keys: FilesByWord; // files by form, see `forms`
  readonly words: FilesByWord; // files by word of letters, digits, `_` and `-`
  readonly beginnings: FilesByWord; // files by the start of a class that a template completes: `layout-` in `layout-<%=`
}

type FilesByWord = ReadonlyMap<string, readonly string[]>;

/**
 * How code names a text: by its key, by a prefix that a template literal completes, by a prefix to which `describeChoice` adds a value, and
 * by a prefix for the texts of a field; and how it defines one. A text between two quotation marks is found even if these belong to
 * different pairs.
 */
const forms = {
  quoted: /'([^'\s]+)(?=')/g,
  defined: /'([^'\s]+)(?=':)/g,
  completed: /`([^`$\s]+)\.(?=\$\{)/g,
  chosen: /describeChoice\('([^'\s]+)(?='\))/g,
  field: /texts: '([^'\s]+)(?=')/g,
};
export type KeyForm = keyof typeof forms;

/** `sources` are files that name keys, `marked` files that name classes. */
export function indexPages(tree: SourceTree, sources: readonly string[], marked: readonly string[]): PageIndex {
  return {
    keys: groupFilesByWord(sources, (file) => findKeys(tree.read(file))),
    words: groupFilesByWord(marked, (file) => tree.read(file).match(/[\w-]+/g) ?? []),
    beginnings: groupFilesByWord(marked, (file) => findClassPrefixes(tree.read(file))),
  };
}

/**
 * Views whose labels have a prefix, and their fields: `defineView<Gift>('gifts')({ code: { type: 'id' } })`. The texts of states follow the
 * prefix.
 */
const prefixed = /defineView<\w+>\('([^'\s]+)(?='\))/g;
const viewed = /(?<!\w)(\w+): \{\s+type: '(\w+)/g;

export function formOf(form: KeyForm, key: string): string {
  return `${form} ${key}`;
}

function findKeys(text: string): string[] {
  const named = Object.entries(forms).flatMap(([form, pattern]) =>
    [...text.matchAll(pattern)].map(([, key = '']) => formOf(form as KeyForm, key)),
  );
  return [...named, ...text.matchAll(prefixed).flatMap(([, prefix = '']) => findViewLabels(text, prefix))];
}

function findViewLabels(text: string, prefix: string): string[] {
  return [...text.matchAll(viewed)].flatMap(([, name = '', type]) => {
    const key = `${prefix}.${name}`;
    return type === 'state' ? [formOf('quoted', key), formOf('field', key)] : [formOf('quoted', key)];
  });
}

/** Includes the quotation mark if a script completes the class: `'tone-' +`. */
function findClassPrefixes(text: string): string[] {
  return text.match(/[\w-]+-(?=<%=)|'[\w-]+-(?=' \+)/g) ?? [];
}

function groupFilesByWord(files: readonly string[], wordsOf: (file: string) => Iterable<string>): FilesByWord {
  const grouped = new Map<string, string[]>();
  for (const file of files)
    for (const word of new Set(wordsOf(file))) {
      const known = grouped.get(word);
      if (known === undefined) grouped.set(word, [file]);
      else known.push(file);
    }
  return grouped;
}
