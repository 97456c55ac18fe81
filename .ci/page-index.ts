import type { SourceTree } from './source-tree.ts';

/** Which files have which words, in the forms that pages need: reading them once answers for every tree that lacks some of them. */
export interface PageIndex {
  /** Files by form: see `forms`. */
  readonly keys: FilesByWord;
  /** Files by word of letters, digits, `_` and `-`. */
  readonly words: FilesByWord;
  /** Files by the whole beginning of a class that a template completes: `layout-` of `layout-<%=`. */
  readonly beginnings: FilesByWord;
}

type FilesByWord = ReadonlyMap<string, readonly string[]>;

/**
 * How code names a text: its key, a prefix that a template literal completes, one of which `describeChoice` takes a member, and one of the texts
 * of a field; and how it defines one. What stands between two quotation marks is found even where they belong to different pairs.
 */
const forms = {
  quoted: /'([^'\s]+)(?=')/g,
  defined: /'([^'\s]+)(?=':)/g,
  completed: /`([^`$\s]+)\.(?=\$\{)/g,
  chosen: /describeChoice\('([^'\s]+)(?='\))/g,
  field: /texts: '([^'\s]+)(?=')/g,
};
export type KeyForm = keyof typeof forms;

/** @param sources where keys are named @param marked where classes are named */
export function indexPages(tree: SourceTree, sources: readonly string[], marked: readonly string[]): PageIndex {
  return {
    keys: group(sources, (file) => keysOf(tree.read(file))),
    words: group(marked, (file) => tree.read(file).match(/[\w-]+/g) ?? []),
    beginnings: group(marked, (file) => beginningsOf(tree.read(file))),
  };
}

/** Views whose labels have a prefix, and their fields: `defineView<Gift>('gifts')({ code: { type: 'id' } })`; states have texts behind theirs. */
const prefixed = /defineView<\w+>\('([^'\s]+)(?='\))/g;
const viewed = /(?<!\w)(\w+): \{\s+type: '(\w+)/g;

/** A word of the index of keys. */
export function formOf(form: KeyForm, key: string): string {
  return `${form} ${key}`;
}

function keysOf(text: string): string[] {
  const named = Object.entries(forms).flatMap(([form, pattern]) =>
    [...text.matchAll(pattern)].map(([, key = '']) => formOf(form as KeyForm, key)),
  );
  return [...named, ...text.matchAll(prefixed).flatMap(([, prefix = '']) => labelsOf(text, prefix))];
}

function labelsOf(text: string, prefix: string): string[] {
  return [...text.matchAll(viewed)].flatMap(([, name = '', type]) => {
    const key = `${prefix}.${name}`;
    return type === 'state' ? [formOf('quoted', key), formOf('field', key)] : [formOf('quoted', key)];
  });
}

/** With the quotation mark where a script completes it: `'tone-' +`. */
function beginningsOf(text: string): string[] {
  return text.match(/[\w-]+-(?=<%=)|'[\w-]+-(?=' \+)/g) ?? [];
}

function group(files: readonly string[], wordsOf: (file: string) => Iterable<string>): FilesByWord {
  const grouped = new Map<string, string[]>();
  for (const file of files)
    for (const word of new Set(wordsOf(file))) {
      const known = grouped.get(word);
      if (known === undefined) grouped.set(word, [file]);
      else known.push(file);
    }
  return grouped;
}
