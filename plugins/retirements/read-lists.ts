import { recordEvent } from '#core/business/accounts/account-events.ts';
import type { Route, Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { LookupFailed } from '#core/gateway/model-call/vendor-lookup.ts';
import { readRetirements, listUniqueRoutes } from './retirements.ts';
import { retirementsSection } from './section.ts';
import {
  digestKeys,
  findListedModel,
  type KeyList,
  findLatestOfFamily,
  maxKeys,
  readVendorLists,
} from './vendor-list.ts';

declare module '#core/gateway/events/events.ts' {
  interface EventTypes {
    /** A vendor is retiring a route's model, or has retired it. Sent when first seen, and again a week before the end. */
    'model.retiring': { readonly route: string; readonly state: string };
  }
}

type ListHost = Pick<Host, 'catalog' | 'database' | 'log' | 'section' | 'now'>;

const finalNoticeDays = 7;

export async function readLists(host: ListHost): Promise<void> {
  const byUpstream = Map.groupBy(listUniqueRoutes(host.catalog.models), ({ upstream }) => upstream);
  if (host.section(retirementsSection).ask)
    for (const [upstream, routes] of byUpstream)
      if (!upstream.isDemo && upstream.credentials === undefined) await readList(host, upstream, routes);
  await recordNotices(host);
}

async function readList(host: ListHost, upstream: Upstream, routes: readonly Route[]): Promise<void> {
  const lists: KeyList[] = [];
  try {
    for await (const list of readVendorLists(upstream)) {
      lists.push(list);
      if (routes.every(({ model }) => lists.some((candidate) => findListedModel(candidate, model) !== undefined)))
        break;
    }
    for (const route of routes) await storeRouteState(host, route, lists);
  } catch (error) {
    if (!(error instanceof LookupFailed)) throw error;
    // 404 is not worth a warning: many servers have no list.
    if (error.status !== 404) host.log.warn(`upstream ${upstream.name} does not list its models: ${error.message}`);
    for (const { id } of routes) await storeFailure(host, id, error.message);
  }
}

/**
 * Stores the state of a route's model. Some vendors do not list all models for every key. A model therefore counts as missing only if the
 * key that used to list it no longer does, or if that key was replaced and no key lists the model.
 */
async function storeRouteState(
  { database, now }: ListHost,
  { id, model, upstream }: Route,
  lists: readonly KeyList[],
): Promise<void> {
  const listing = lists.find((list) => findListedModel(list, model) !== undefined);
  const entry = listing && findListedModel(listing, model);
  const listsWithoutModel = lists.filter((list) => list.isComplete && list.models.length > 0).map(({ key }) => key);
  const latestModel = lists.map((list) => findLatestOfFamily(list, model)).find((name) => name !== undefined);
  const successor = entry?.successor ?? latestModel ?? null;
  const keys = digestKeys(upstream);
  const isMissingEverywhere = keys.slice(0, maxKeys).every((key) => listsWithoutModel.includes(key));
  const checkedAt = new Date(now());
  await database.query(
    `insert into retirement_route as known (route, checked_at, listed_at, listed_for, ends_on, successor) values (?, ?, ?, ?, ?, ?)
     on conflict (route) do update set checked_at = excluded.checked_at, error = null,
       listed_at = coalesce(excluded.listed_at, known.listed_at),
       listed_for = coalesce(excluded.listed_for, known.listed_for),
       missing_since = case when excluded.listed_at is not null then null
         when known.listed_for in (?) or ? and known.listed_at is not null and coalesce(known.listed_for, '') not in (?)
           then coalesce(known.missing_since, excluded.checked_at)
         else known.missing_since end,
       ends_on = case when excluded.listed_at is null then known.ends_on else excluded.ends_on end,
       successor = coalesce(excluded.successor, known.successor)`,
    [
      id,
      checkedAt,
      entry === undefined ? null : checkedAt,
      listing?.key ?? null,
      entry?.endsOn ?? null,
      successor,
      listsWithoutModel.length === 0 ? [''] : listsWithoutModel,
      isMissingEverywhere,
      keys,
    ],
  );
}

async function storeFailure({ database, now }: ListHost, route: string, error: string): Promise<void> {
  await database.query(
    `insert into retirement_route (route, checked_at, error) values (?, ?, ?)
     on conflict (route) do update set checked_at = excluded.checked_at, error = excluded.error`,
    [route, new Date(now()), error],
  );
}

async function recordNotices(host: ListHost): Promise<void> {
  const retirements = await readRetirements(host);
  const finalNoticeDay = new Date(host.now() + finalNoticeDays * 86_400_000).toISOString().slice(0, 10);
  await host.database.fork().transactional(async (transaction) => {
    for (const { route, state, endsOn, missingSince } of retirements) {
      const stage = state === 'ending' && endsOn !== undefined && endsOn <= finalNoticeDay ? 'soon' : state;
      const key = `model.retiring:${route}:${endsOn ?? missingSince}:${stage}`;
      await recordEvent(transaction, 'model.retiring', { route, state }, key);
    }
  });
}
