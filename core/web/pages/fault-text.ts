import type { Translate } from '../texts/texts.ts';

/** Kind of a fault, status, sentence, and what the system said: `route: 503 The connection to the upstream failed. (ECONNRESET)`. */
const parts = /^(?:\w+: )?(\d{3} )?(.*?)( \([^()]*\))?$/s;

/**
 * Why an attempt or a breaker failed, as the log and records have it, in the language of the reader and without a period at its end. The
 * words of an upstream stay as they are.
 */
export function describeFaultText(recorded: string, t: Translate): string {
  const [, status = '', sentence = '', cause = ''] = parts.exec(recorded) ?? [];
  const whole = t(`${status}${sentence}`);
  const words = whole === `${status}${sentence}` ? `${status}${t(sentence)}` : whole;
  return `${words.replace(/\.$/, '')}${cause}`;
}
