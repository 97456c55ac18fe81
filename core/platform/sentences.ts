/** A text, or its plural forms, selected by `count`. `{name}` is replaced with a value. */
export type Text = string | { readonly one?: string; readonly other: string };

export type TextValues = Readonly<Record<string, string | number>>;

const placeholder = /\{(\w+)\}/g;

/**
 * Fills in values.
 *
 * @param form plural form to use, if the text has several
 * @param writeNumber formats numbers
 */
export function fillText(
  text: Text,
  values: TextValues,
  form: 'one' | 'other',
  writeNumber: (value: number) => string = String,
): string {
  const template = typeof text === 'string' ? text : ((form === 'one' ? text.one : undefined) ?? text.other);
  return template.replace(placeholder, (whole, name: string) => {
    const value = values[name];
    return typeof value === 'number' ? writeNumber(value) : (value ?? whole);
  });
}

/**
 * Defines sentences that are English in the log, records and commands, and translated on pages: a page recognizes the sentence and finds
 * its key (`SentenceReader`). The keys contain `.reason.`.
 *
 * @param texts English texts, which the plugin registers with the others
 * @returns a function that writes the English sentence
 */
export function defineSentences<Key extends string>(
  texts: Readonly<Record<Key, Text>>,
): (key: Key, values?: TextValues) => string {
  return (key, values = {}) => fillText(texts[key], values, values['count'] === 1 ? 'one' : 'other');
}

const maxMatchedLength = 2_000; // characters; longer messages are not ours

/** Finds the key of a sentence and the values in it. */
export class SentenceReader {
  readonly #templates: readonly { readonly key: string; readonly pattern: RegExp; readonly isOne: boolean }[]; // most specific first

  /** @param texts English texts by key; those whose key does not contain `.reason.` are ignored */
  constructor(texts: ReadonlyMap<string, Text>) {
    this.#templates = [...texts]
      .filter(([key]) => key.includes('.reason.'))
      .flatMap(([key, text]) => {
        const forms = typeof text === 'string' ? [text] : [text.one ?? text.other, text.other];
        return forms.map((form, index) => ({ key, form, isOne: forms.length > 1 && index === 0 }));
      })
      .toSorted((a, b) => literalsOf(b.form) - literalsOf(a.form))
      .map(({ key, form, isOne }) => ({ key, isOne, pattern: patternOf(form) }));
  }

  /** @returns undefined for a text that is not one of the sentences */
  read(sentence: string): { readonly key: string; readonly values: Readonly<Record<string, string>> } | undefined {
    if (sentence.length > maxMatchedLength) return undefined;
    for (const { key, pattern, isOne } of this.#templates) {
      const found = pattern.exec(sentence);
      if (found !== null) return { key, values: { ...(isOne && { count: '1' }), ...found.groups } };
    }
    return undefined;
  }
}

function literalsOf(form: string): number {
  return form.replace(placeholder, '').length;
}

function patternOf(form: string): RegExp {
  const parts = form.split(placeholder);
  return new RegExp(
    `^${parts.map((part, at) => (at % 2 === 0 ? RegExp.escape(part) : `(?<${part}>.+?)`)).join('')}$`,
    's',
  );
}
