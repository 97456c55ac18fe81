import { type Language, languages, type Text, type Texts, type Translate } from './texts.ts';

const placeholder = /\{(\w+)\}/g;

/** Every registered text, by language. */
export class Translator {
  readonly #texts: Readonly<Record<Language, ReadonlyMap<string, Text>>>;

  /** @throws Error when two plugins have a text of one key, or a language lacks one that the other has */
  constructor(sources: Iterable<Texts>) {
    const texts = { en: new Map<string, Text>(), id: new Map<string, Text>() };
    for (const source of sources) {
      for (const language of languages) addAll(texts[language], source[language]);
    }
    for (const language of languages) {
      for (const other of languages) requireSameKeys(texts[language], texts[other], other);
    }
    this.#texts = texts;
  }

  has(key: string): boolean {
    return this.#texts.en.has(key);
  }

  /** Shows the key itself if it does not exist: better than an error page. */
  in(language: Language): Translate {
    const numbers = new Intl.NumberFormat(language);
    const plurals = new Intl.PluralRules(language);
    const texts = this.#texts[language];
    return (key, values = {}) => {
      const found = texts.get(key) ?? key;
      const text = typeof found === 'string' ? found : pluralForm(found, plurals, values['count']);
      return text.replace(placeholder, (whole, name: string) => {
        const value = values[name];
        return typeof value === 'number' ? numbers.format(value) : (value ?? whole);
      });
    };
  }
}

function pluralForm(forms: Exclude<Text, string>, rules: Intl.PluralRules, count: string | number | undefined): string {
  const form = rules.select(Number(count));
  return (form === 'one' ? forms.one : undefined) ?? forms.other;
}

function addAll(known: Map<string, Text>, added: Readonly<Record<string, Text>>): void {
  for (const [key, text] of Object.entries(added)) {
    if (known.has(key)) throw new Error(`text "${key}" is registered twice`);
    known.set(key, text);
  }
}

function requireSameKeys(texts: ReadonlyMap<string, Text>, others: ReadonlyMap<string, Text>, other: Language): void {
  const missing = texts.keys().find((key) => !others.has(key));
  if (missing !== undefined) throw new Error(`text "${missing}" has no translation in "${other}"`);
}
