import type { IconName } from '#core/web/pages/icons.ts';
import type { Translate } from '#core/web/texts/texts.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';

/** Result of a request in a word or two. */
export interface StatusView {
  /** Colour and shape. */
  readonly tone: Extract<IconName, 'ok' | 'warn' | 'bad' | 'info'>;
  readonly text: string;
  /** True if the result is shown as a problem. */
  readonly isTrouble: boolean;
}

/** Message about a model whose routes are all switched off; its error code is that of an unknown model. */
const modelOff = /^Model ".{1,200}" is out of service/s;

type Ending = Pick<RequestRecord, 'outcome' | 'status' | 'route' | 'error_code' | 'cache' | 'error_message'>;

/** Describes the outcome: "200", "Cached", "429 rate limit", "502 all routes", "Stopped by client". */
export function describeStatus(record: Ending, t: Translate): StatusView {
  const { outcome, status, cache } = record;
  if (outcome === 'aborted') return { tone: 'info', text: t('requests.status.aborted'), isTrouble: true };
  if (outcome === 'interrupted') return { tone: 'bad', text: t('requests.status.interrupted'), isTrouble: true };
  if (outcome === 'answered') {
    const text = cache === 'hit' ? t('requests.status.cached') : String(status ?? t('requests.status.answered'));
    return { tone: 'ok', text, isTrouble: false };
  }
  const tone = outcome === 'refused' ? 'warn' : 'bad';
  return { tone, text: describeError(record, t), isTrouble: true };
}

/** The status with a short reason. If the error followed the beginning of the answer, the status is a success status. */
function describeError({ status, route, error_code: code, error_message: message }: Ending, t: Translate): string {
  if (status !== null && status < 400) return t('requests.status.broken');
  const isOff = code === 'model_not_found' && modelOff.test(message ?? '');
  // If a route was tried, its upstream was unavailable, not the gateway.
  const isTried = code === 'unavailable' && route !== null;
  const word = isOff ? 'model_off' : isTried ? 'upstream_failed' : code;
  const reason = word === null ? undefined : wordFor(`requests.error.${word}`, t);
  return [status, reason ?? t('requests.status.error')].filter((part) => part !== null).join(' ');
}

/** Returns the text of a composed key; undefined if this version does not know the recorded word. */
export function wordFor(key: string, t: Translate): string | undefined {
  const text = t(key);
  return text === key ? undefined : text;
}
