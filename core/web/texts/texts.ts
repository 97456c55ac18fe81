import accept from '@hapi/accept';
import type { Text, TextValues } from '#core/platform/sentences.ts';

/** The languages of pages; the first one is the fallback. */
export const languages = ['en', 'id'] as const;

export type Language = (typeof languages)[number];

/** A plugin's texts in every language. Keys are unique in the whole gateway and start with the plugin's name. */
export interface Texts {
  readonly en: Readonly<Record<string, Text>>;
  readonly id: Readonly<Record<string, Text>>;
}

/** Combines a plugin's languages, each from a JSON file. A text that one language lacks is a type error, so `npm run check` fails. */
export function defineTexts<const Keys extends string>(texts: {
  readonly en: Readonly<Record<Keys, Text>>;
  readonly id: Readonly<Record<NoInfer<Keys>, Text>>;
}): Texts {
  return texts;
}

/**
 * Looks up a text and fills in its values; numbers are formatted for the language. The key may also be an English sentence from a log, such
 * as the reason for a failed health check. Any other text is returned unchanged.
 */
export type Translate = (key: string, values?: TextValues) => string;

/** Returns the language that a visitor chose, or else the one that the browser prefers. */
export function chooseLanguage(chosen: string | undefined, acceptLanguage: string | undefined): Language {
  const chosenLanguage = languages.find((language) => language === chosen);
  if (chosenLanguage !== undefined || acceptLanguage === undefined) return chosenLanguage ?? languages[0];
  return languages.find((language) => language === parsePreferredLanguage(acceptLanguage)) ?? languages[0];
}

function parsePreferredLanguage(header: string): string {
  try {
    // Ignores regions, such as the one in `id-ID`.
    return accept.language(header.replace(/\b([a-z]{2,3})-[\w-]+/gi, '$1'), [...languages]);
  } catch {
    return '';
  }
}
