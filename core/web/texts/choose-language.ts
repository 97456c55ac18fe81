import accept from '@hapi/accept';
import { type Language, languages } from './texts.ts';

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
