import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import type { PageReader } from './page.ts';

const statusKinds: Readonly<Record<RouteStatus['state'], string>> = {
  closed: 'ok',
  open: 'bad',
  half_open: 'warn',
  no_model: 'bad',
};

/** For `parts/status`. */
export function describeBreaker(status: RouteStatus | undefined, { t, format, host }: PageReader) {
  const state = status?.state ?? 'closed';
  const remainingMs = status?.open_until == null ? 0 : Math.max(0, Date.parse(status.open_until) - host.now());
  const seconds = Math.max(1, Math.ceil(remainingMs / 1_000));
  const time = seconds < 60 ? t('operator.seconds', { count: seconds }) : format.duration(seconds * 1_000).text;
  const isUnclear404 =
    state === 'no_model' && status?.reason?.endsWith(upstreamReason('upstream.reason.unclear_404')) === true;
  return { kind: statusKinds[state], text: t(`operator.breaker.${isUnclear404 ? 'unclear_404' : state}`, { time }) };
}
