/** A text, or its plural forms, selected by `count`. `{name}` is replaced with a value. */
export type Text = string | { readonly one?: string; readonly other: string };

/** Values of placeholders by name. */
export type TextValues = Readonly<Record<string, string | number>>;

const placeholder = /\{(\w+)\}/g;

/** Replaces the placeholders of a text with values. `form` is the plural form to use, if the text has several. */
export function fillText(
  text: Text,
  values: TextValues,
  form: 'one' | 'other',
  formatNumber: (value: number) => string = String,
): string {
  return chooseForm(text, form).replace(placeholder, (whole, name: string) => {
    const value = values[name];
    return typeof value === 'number' ? formatNumber(value) : (value ?? whole);
  });
}

function chooseForm(text: Text, form: 'one' | 'other'): string {
  if (typeof text === 'string') return text;
  return text[form] ?? text.other;
}

/**
 * Defines sentences that are English in the log, records and commands, and translated on pages. Pages recognize them with `SentenceReader`,
 * which knows only the texts with `.reason.` in the key.
 *
 * @param texts English texts, which the plugin registers with the others
 */
export function defineSentences<Key extends string>(
  texts: Readonly<Record<Key, Text>>,
): (key: Key, values?: TextValues) => string {
  return (key, values = {}) => fillText(texts[key], values, values['count'] === 1 ? 'one' : 'other');
}

const maxMatchedLength = 2_000; // characters; longer messages are not from the gateway

/** Finds the key of a sentence and the values in it. */
export class SentenceReader {
  readonly #templates: readonly { readonly key: string; readonly pattern: RegExp; readonly isSingular: boolean }[]; // most specific first

  /** @param texts English texts by key; keys without `.reason.` are ignored */
  constructor(texts: ReadonlyMap<string, Text>) {
    this.#templates = [...texts]
      .filter(([key]) => key.includes('.reason.'))
      .flatMap(([key, text]) => {
        // Without `one`, the forms are equal; `read` then takes the count from the sentence.
        const forms = typeof text === 'string' ? [text] : [text.one ?? text.other, text.other];
        return forms.map((form, index) => ({ key, form, isSingular: forms.length > 1 && index === 0 }));
      })
      .toSorted((a, b) => countLiteralCharacters(b.form) - countLiteralCharacters(a.form))
      .map(({ key, form, isSingular }) => ({ key, isSingular, pattern: compilePattern(form) }));
  }

  read(sentence: string): { readonly key: string; readonly values: Readonly<Record<string, string>> } | undefined {
    if (sentence.length > maxMatchedLength) return undefined;
    for (const { key, pattern, isSingular } of this.#templates) {
      const match = pattern.exec(sentence);
      if (match !== null) return { key, values: { ...(isSingular && { count: '1' }), ...match.groups } };
    }
    return undefined;
  }
}

function countLiteralCharacters(form: string): number {
  return form.replace(placeholder, '').length;
}

function compilePattern(form: string): RegExp {
  const parts = form.split(placeholder);
  return new RegExp(
    `^${parts.map((part, index) => (index % 2 === 0 ? RegExp.escape(part) : `(?<${part}>.+?)`)).join('')}$`,
    's',
  );
}
