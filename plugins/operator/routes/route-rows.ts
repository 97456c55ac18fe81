import type { Model } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { RecentRoutes, RouteTraffic } from '../route-traffic.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'host'>;

/** A route of one model, ready to be printed. */
export interface RouteRow {
  /** Public name; '' for the second route of a model and those after it. */
  readonly model: string;
  readonly modelName: string;
  readonly route: string;
  readonly status: { readonly kind: string; readonly text: string };
  readonly reason: string;
  readonly keys: string;
  readonly requests: string;
  readonly failed: string;
  readonly isFailing: boolean;
  readonly firstToken: string;
  readonly fault: string;
  readonly faultAt: string;
  readonly isTroubled: boolean;
  readonly resetPath: string;
}

/** Share of failed attempts from which on a route is shown among the first. */
const notable = 0.01;
/** Characters of a fault in a row. */
const longestFault = 80;

/**
 * The routes of models with trouble, then of others, whole models in the order of gateway.yaml.
 *
 * @param least rows, where there are as many
 */
export function describeRoutes(
  { catalog }: Pick<Host, 'catalog'>,
  statuses: ReadonlyMap<string, RouteStatus>,
  { routes }: RecentRoutes,
  reader: Reader,
  least: number,
): RouteRow[] {
  return mostUrgent(catalog.models, least, (id) => isTroubled(statuses.get(id), routes.get(id))).flatMap((model) =>
    model.routes.map(({ id }, index) => ({
      model: index === 0 ? model.publicName : '',
      modelName: model.publicName,
      ...describeRoute(id, statuses.get(id), routes.get(id), reader),
    })),
  );
}

/** Rows that all models would have. */
export function countRoutes({ catalog }: Pick<Host, 'catalog'>): number {
  return catalog.models.reduce((sum, { routes }) => sum + routes.length, 0);
}

function mostUrgent(models: readonly Model[], least: number, isTroubledRoute: (id: string) => boolean): Model[] {
  const [troubled, others] = partition(models, ({ routes }) => routes.some(({ id }) => isTroubledRoute(id)));
  const chosen = new Set<Model>();
  let count = 0;
  for (const model of [...troubled, ...others]) {
    if (count >= least) break;
    chosen.add(model);
    count += model.routes.length;
  }
  return models.filter((model) => chosen.has(model));
}

function partition<T>(all: readonly T[], test: (one: T) => boolean): [T[], T[]] {
  const { yes = [], no = [] } = Object.groupBy(all, (one) => (test(one) ? 'yes' : 'no'));
  return [yes, no];
}

function failedShare(traffic: RouteTraffic | undefined): number | undefined {
  const tried = (traffic?.served ?? 0) + (traffic?.failed ?? 0);
  return tried === 0 ? undefined : (traffic?.failed ?? 0) / tried;
}

function isTroubled(status: RouteStatus | undefined, traffic: RouteTraffic | undefined): boolean {
  if ((failedShare(traffic) ?? 0) >= notable) return true;
  return status !== undefined && (status.state !== 'closed' || (status.keys_cooling_down ?? 0) > 0);
}

function describeRoute(
  route: string,
  status: RouteStatus | undefined,
  traffic: RouteTraffic | undefined,
  reader: Reader,
): Omit<RouteRow, 'model' | 'modelName'> {
  const { t, format } = reader;
  const share = failedShare(traffic);
  const cooling = status?.keys_cooling_down ?? 0;
  return {
    route,
    status: describeBreaker(status, reader),
    reason: status?.reason ?? '',
    keys: cooling === 0 ? '' : t('operator.keys_cooling', { count: cooling }),
    requests: traffic === undefined ? '' : format.number(traffic.attempts),
    failed: share === undefined ? '' : format.percent(share),
    isFailing: (share ?? 0) >= 0.1,
    firstToken: traffic?.firstTokenMs === undefined ? '' : format.duration(traffic.firstTokenMs).text,
    ...describeFault(traffic, reader),
    isTroubled: isTroubled(status, traffic),
    resetPath: `/operator/routes/reset?route=${encodeURIComponent(route)}`,
  };
}

const kinds: Readonly<Record<RouteStatus['state'], string>> = {
  closed: 'ok',
  open: 'bad',
  half_open: 'warn',
  no_model: 'bad',
};

function describeBreaker(status: RouteStatus | undefined, { t, format, host }: Reader) {
  const state = status?.state ?? 'closed';
  const left = status?.open_until == null ? 0 : Math.max(0, Date.parse(status.open_until) - host.now());
  const seconds = Math.max(1, Math.ceil(left / 1_000));
  const time = seconds < 60 ? t('operator.seconds', { count: seconds }) : format.duration(seconds * 1_000).text;
  return { kind: kinds[state], text: t(`operator.breaker.${state}`, { time }) };
}

function describeFault(traffic: RouteTraffic | undefined, { format }: Reader) {
  const last = traffic?.lastFault;
  if (last === undefined) return { fault: '', faultAt: '' };
  const text = (last.error ?? last.fault).replace(`${last.fault}: `, '').replace(/\.$/, ''); // the time follows
  return {
    fault: text.length > longestFault ? `${text.slice(0, longestFault - 1)}…` : text,
    faultAt: format.shortTime(new Date(last.at)).text,
  };
}
