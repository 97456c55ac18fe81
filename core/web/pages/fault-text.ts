import type { Translate } from '../texts/texts.ts';

/** Kind of fault, status, sentence and system error: `route: 503 The connection to the upstream failed. (ECONNRESET)`. */
const parts = /^(?:\w+: )?(\d{3} )?(.*?)( \([^()]*\))?$/s;

/**
 * Explains why an attempt or a breaker failed, as logged and recorded, in the reader's language and without a final period. An upstream's
 * own words stay as they are.
 */
export function describeFaultText(recorded: string, t: Translate): string {
  const [, status = '', sentence = '', cause = ''] = parts.exec(recorded) ?? [];
  const whole = t(`${status}${sentence}`);
  const words = whole === `${status}${sentence}` ? `${status}${t(sentence)}` : whole;
  return `${words.replace(/\.$/, '')}${cause}`;
}
