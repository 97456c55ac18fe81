import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { findModelEnd } from '#core/config/catalog/model-ends.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { epoch } from '#core/platform/database/rows.ts';
import type { Formatter } from '#core/web/texts/formatter.ts';
import { retirementsSection } from './section.ts';

/** A route whose model its vendor retires. */
export interface Retirement {
  readonly route: string; // upstream/model
  /** `ending`: ends within the notice period. `missing`: no longer on a list that contained it. */
  readonly state: 'ending' | 'ended' | 'missing';
  /** First day (UTC) without the model; undefined if it is only missing from the list. */
  readonly endsOn: string | undefined;
  /** When the model was first missing from the list, epoch ms. */
  readonly missingSince: number | undefined;
  /** The vendor's name for a suggested successor. */
  readonly successor: string | undefined;
  /** Public names of the models that the route serves. */
  readonly models: readonly string[];
  /** Public names of the models all of whose routes are retired. */
  readonly lost: readonly string[];
}

interface Row {
  readonly route: string;
  readonly missingSince: number | null;
  readonly endsOn: string | null;
  readonly successor: string | null;
}

type RetirementHost = Pick<Host, 'catalog' | 'database' | 'section' | 'now'>;

/** Reads the routes whose model has ended or ends soon, according to the vendor's list or its published dates, earliest end first. */
export async function readRetirements(host: RetirementHost): Promise<Retirement[]> {
  const { catalog, database, section, now } = host;
  const routes = listUniqueRoutes(catalog.models);
  if (routes.length === 0) return [];
  const rows = await database.query<Row>(
    `select route, ${epoch('missing_since')} as "missingSince", ends_on as "endsOn", successor from retirement_route where route in (?)`,
    [routes.map(({ id }) => id)],
  );
  const rowsByRoute = new Map(rows.map((row) => [row.route, row]));
  const lastNoticeDay = getDay(now() + section(retirementsSection).notice_days * 86_400_000);
  const today = getDay(now());
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

/** Lists the routes of all models, each once. */
export function listUniqueRoutes(models: readonly Model[]): Route[] {
  return [...new Map(models.flatMap(({ routes }) => routes.map((route) => [route.id, route]))).values()];
}

/** Returns the day in UTC, as vendors publish days. */
function getDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Formats a vendor's day, the same in every time zone. */
export function formatDay(day: string | undefined, format: Pick<Formatter, 'day'>): string {
  return day === undefined ? '' : format.day(new Date(`${day}T12:00:00Z`)).text;
}

/** Finds a public model that already uses the successor, to offer customers an alternative. */
export function findServedSuccessor(
  { catalog }: Pick<Host, 'catalog'>,
  { successor }: Pick<Retirement, 'successor'>,
): string | undefined {
  if (successor === undefined) return undefined;
  return catalog.models.find(({ routes }) => routes.some(({ model }) => model === successor))?.publicName;
}
