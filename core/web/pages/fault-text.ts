import type { Translate } from '../texts/texts.ts';

/** Status, sentence and system error, as in `route: 503 The connection to the upstream failed. (ECONNRESET)`. */
const faultPattern = /^(?:\w+: )?(\d{3} )?(.*?)( \([^()]*\))?$/s;

/** Translates the recorded failure of an attempt or breaker, without the final period. An upstream's own message stays as it is. */
export function describeFaultText(fault: string, t: Translate): string {
  const [, status = '', sentence = '', cause = ''] = faultPattern.exec(fault) ?? [];
  const key = `${status}${sentence}`;
  const translated = t(key);
  const explanation = translated === key ? `${status}${t(sentence)}` : translated;
  return `${explanation.replace(/\.$/, '')}${cause}`;
}
