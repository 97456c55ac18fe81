import type { RequestRecord } from '#core/gateway/records/columns.ts';
import type { IconName } from '#core/web/pages/icons.ts';
import type { Translate } from '#core/web/texts/texts.ts';

export interface StatusView {
  readonly tone: Extract<IconName, 'ok' | 'warn' | 'bad' | 'info'>;
  readonly text: string;
  readonly isTrouble: boolean;
}

const modelOffMessage = /^Model ".{1,200}" is out of service/s; // an unknown model has the same error code

type RequestResult = Pick<RequestRecord, 'outcome' | 'status' | 'route' | 'error_code' | 'cache' | 'error_message'>;

/** Returns a short text such as "200", "Cached", "429 rate limit", "502 all routes" or "Stopped by client". */
export function describeStatus(record: RequestResult, t: Translate): StatusView {
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

function describeError(record: RequestResult, t: Translate): string {
  const { status } = record;
  // The response broke off after a success status.
  if (status !== null && status < 400) return t('requests.status.broken');
  const errorKey = chooseErrorKey(record);
  const reason = errorKey === null ? undefined : translateIfKnown(`requests.error.${errorKey}`, t);
  return [status, reason ?? t('requests.status.error')].filter((part) => part !== null).join(' ');
}

function chooseErrorKey({ route, error_code: code, error_message: message }: RequestResult): string | null {
  if (code === 'model_not_found' && modelOffMessage.test(message ?? '')) return 'model_off';
  // If a route was tried, it was the upstream that was unavailable, not the gateway.
  return code === 'unavailable' && route !== null ? 'upstream_failed' : code;
}

/** Translates a key that contains a recorded value; undefined if this version has no text for the value. */
export function translateIfKnown(key: string, t: Translate): string | undefined {
  const text = t(key);
  return text === key ? undefined : text;
}
