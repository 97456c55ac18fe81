import { fillText, SentenceReader, type Text } from '#core/platform/sentences.ts';
import { type Language, languages, type Texts, type Translate } from './texts.ts';

export class Translator {
  readonly #texts: Readonly<Record<Language, ReadonlyMap<string, Text>>>;
  #sentences: SentenceReader | undefined;

  /** @throws Error if two plugins define the same key, or if a language lacks a key that another one has */
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

  /** Returns the translation function for a language. It returns unknown keys unchanged, so that a page does not fail. */
  in(language: Language): Translate {
    const numbers = new Intl.NumberFormat(language);
    const plurals = new Intl.PluralRules(language);
    const texts = this.#texts[language];
    const translate: Translate = (key, values = {}) => {
      const text = texts.get(key);
      if (text === undefined) return language === 'en' ? key : this.#readSentence(key, translate);
      const form = plurals.select(Number(values['count'])) === 'one' ? 'one' : 'other';
      return fillText(text, values, form, (value) => numbers.format(value));
    };
    return translate;
  }

  #readSentence(sentence: string, translate: Translate): string {
    this.#sentences ??= new SentenceReader(this.#texts.en);
    const match = this.#sentences.read(sentence);
    if (match === undefined) return sentence;
    return translate(
      match.key,
      Object.fromEntries(Object.entries(match.values).map(([name, value]) => [name, translate(value)])),
    );
  }
}

function addAll(texts: Map<string, Text>, addedTexts: Readonly<Record<string, Text>>): void {
  for (const [key, text] of Object.entries(addedTexts)) {
    if (texts.has(key)) throw new Error(`text "${key}" is registered twice`);
    texts.set(key, text);
  }
}

function requireSameKeys(
  texts: ReadonlyMap<string, Text>,
  otherTexts: ReadonlyMap<string, Text>,
  otherLanguage: Language,
): void {
  const missing = texts.keys().find((key) => !otherTexts.has(key));
  if (missing !== undefined) throw new Error(`text "${missing}" has no translation in "${otherLanguage}"`);
}
