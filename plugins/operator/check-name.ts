import type { Translate } from '#core/web/texts/texts.ts';

/** In words; checks of other plugins have their own names. */
export function nameOfCheck(name: string, t: Translate): string {
  const key = `operator.check.${name.replaceAll(' ', '_')}`;
  const text = t(key);
  return text === key ? name : text;
}
