import type { PageRequest } from '#core/web/pages/page.ts';
import { plansPath, tryPath } from '../paths.ts';

/** The page's script uses the same texts. */
export interface TryError {
  readonly kind: 'warn' | 'bad';
  readonly title: string;
  readonly text: string;
  readonly action?: { readonly path: string; readonly label: string };
}

/** The texts of a cause are `try.error.CAUSE` and `try.error_text.CAUSE`. */
export const tryCauses = [
  'signed_out',
  'no_plan',
  'blocked',
  'no_model',
  'refused',
  'too_long',
  'rate_limit',
  'failed',
  'unreachable',
] as const;
type TryCause = (typeof tryCauses)[number];

export const statusCauses: Readonly<Record<number, TryCause>> = {
  0: 'unreachable', // no response
  401: 'signed_out',
  402: 'no_plan',
  403: 'blocked',
  404: 'no_model',
  413: 'too_long',
  429: 'rate_limit',
};

/** @param status status of the response; 0 if there was none */
export function findCause(status: number): TryCause {
  return status >= 500 || status === 424 ? 'failed' : (statusCauses[status] ?? 'refused');
}

/** @param values `seconds` until the next try, `message` of the API; placeholders without a value stay */
export function explainError(
  cause: TryCause,
  values: { readonly seconds?: number; readonly message?: string },
  t: PageRequest['t'],
): TryError {
  const action = describeAction(cause, t);
  return {
    kind: cause === 'rate_limit' || cause === 'no_plan' ? 'warn' : 'bad',
    title: t(`try.error.${cause}`),
    text: t(`try.error_text.${cause}`, values),
    ...(action !== undefined && { action }),
  };
}

function describeAction(cause: TryCause, t: PageRequest['t']): TryError['action'] {
  if (cause === 'no_plan') return { path: plansPath, label: t('try.choose_plan') };
  if (cause === 'no_model') return { path: tryPath, label: t('try.reload') };
  if (cause === 'signed_out') return { path: `/sign-in?next=${tryPath}`, label: t('try.sign_in') };
  return undefined;
}
