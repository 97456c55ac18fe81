import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { findModelEnd } from '#core/config/catalog/model-ends.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { epoch } from '#core/platform/database/rows.ts';
import type { Formatter } from '#core/web/texts/formatter.ts';
import { retirementsSection } from './section.ts';

export interface Retirement {
  readonly route: string; // upstream/model
  /** `ending`: ends within the notice period. `missing`: no longer on a list that contained it. */
  readonly state: 'ending' | 'ended' | 'missing';
  readonly endsOn: string | undefined; // first day (UTC) without the model; undefined if it is only missing from the list
  readonly missingSince: number | undefined; // from the list, epoch ms
  readonly successor: string | undefined; // the vendor's name for it
  readonly models: readonly string[]; // public names of the models that the route serves
  readonly lost: readonly string[]; // public names of the models all of whose routes are retired
}

interface Row {
  readonly route: string;
  readonly missingSince: number | null;
  readonly endsOn: string | null;
  readonly successor: string | null;
}

type RetirementHost = Pick<Host, 'catalog' | 'database' | 'section' | 'now'>;

/** Combines the vendors' lists with their published dates. The earliest end comes first. */
export async function readRetirements(host: RetirementHost): Promise<Retirement[]> {
  const { catalog, database, section, now } = host;
  const routes = listUniqueRoutes(catalog.models);
  if (routes.length === 0) return [];
  const rows = await database.query<Row>(
    `select route, ${epoch('missing_since')} as "missingSince", ends_on as "endsOn", successor from retirement_route where route in (?)`,
    [routes.map(({ id }) => id)],
  );
  const rowsByRoute = new Map(rows.map((row) => [row.route, row]));
  const lastNoticeDay = getUtcDay(now() + section(retirementsSection).notice_days * 86_400_000);
  const today = getUtcDay(now());
  const retired = routes.flatMap((route): Omit<Retirement, 'models' | 'lost'>[] => {
    const row = rowsByRoute.get(route.id);
    const publishedEnd = findModelEnd(route.model, route.upstream.vendor);
    const endsOn = row?.endsOn ?? publishedEnd?.day;
    const missingSince = row?.missingSince ?? undefined;
    const successor = publishedEnd?.successor ?? row?.successor ?? undefined;
    if (missingSince === undefined && (endsOn === undefined || endsOn > lastNoticeDay)) return [];
    const isEnded = endsOn !== undefined && endsOn <= today;
    const listedState = missingSince === undefined ? 'ending' : 'missing';
    return [{ route: route.id, state: isEnded ? 'ended' : listedState, endsOn, missingSince, successor }];
  });
  const retiredIds = new Set(retired.map(({ route }) => route));
  return retired
    .map((retirement) => {
      const servedModels = catalog.models.filter((model) => model.routes.some(({ id }) => id === retirement.route));
      const lostModels = servedModels.filter((model) => model.routes.every(({ id }) => retiredIds.has(id)));
      return { ...retirement, models: listNames(servedModels), lost: listNames(lostModels) };
    })
    .toSorted((first, second) => (first.endsOn ?? '').localeCompare(second.endsOn ?? ''));
}

function listNames(models: readonly Model[]): string[] {
  return models.map(({ publicName }) => publicName);
}

export function listUniqueRoutes(models: readonly Model[]): Route[] {
  return [...new Map(models.flatMap(({ routes }) => routes.map((route) => [route.id, route]))).values()];
}

function getUtcDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The same in every time zone. */
export function formatDay(day: string | undefined, format: Pick<Formatter, 'day'>): string {
  return day === undefined ? '' : format.day(new Date(`${day}T12:00:00Z`)).text;
}

export function findServedSuccessor(
  { catalog }: Pick<Host, 'catalog'>,
  { successor }: Pick<Retirement, 'successor'>,
): string | undefined {
  if (successor === undefined) return undefined;
  return catalog.models.find(({ routes }) => routes.some(({ model }) => model === successor))?.publicName;
}
