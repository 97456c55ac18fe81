import accept from '@hapi/accept';
/** The languages of pages; the first is the fallback. */
export const languages = ['en', 'id'] as const;

export type Language = (typeof languages)[number];

/** A text, or its plural forms by `count`. `{name}` is replaced with a value. */
export type Text = string | { readonly one?: string; readonly other: string };

/** The texts of one plugin in every language. Keys are unique in the gateway; they begin with the plugin's name. */
export interface Texts {
  readonly en: Readonly<Record<string, Text>>;
  readonly id: Readonly<Record<string, Text>>;
}

/**
 * Ties the languages of a plugin together: a text that one of them lacks is a type error, so `npm run check` fails.
 * Each language has its own JSON file.
 */
export function defineTexts<const Keys extends string>(texts: {
  readonly en: Readonly<Record<Keys, Text>>;
  readonly id: Readonly<Record<NoInfer<Keys>, Text>>;
}): Texts {
  return texts;
}

/** Looks a text up and fills its values in. Numbers are written as the language does. */
export type Translate = (key: string, values?: Readonly<Record<string, string | number>>) => string;

/** The language of a visitor: as chosen, otherwise as the browser prefers. @param header Accept-Language */
export function chooseLanguage(chosen: string | undefined, header: string | undefined): Language {
  const known = languages.find((language) => language === chosen);
  if (known !== undefined || header === undefined) return known ?? languages[0];
  return languages.find((language) => language === preferred(header)) ?? languages[0];
}

/** @returns '' for a header that names none of ours, or is malformed */
function preferred(header: string): string {
  try {
    // The region, as in `id-ID`, is ignored.
    return accept.language(header.replace(/\b([a-z]{2,3})-[\w-]+/gi, '$1'), [...languages]);
  } catch {
    return '';
  }
}
