import { isDeepStrictEqual } from 'node:util';
import { runToEnd } from '#core/platform/timing/turn.ts';
import { canHaveBackup, findModelsWithoutBackup } from '../catalog/backups.ts';
import type { Capacity, Catalog, ListedModel, Model, Route, Upstream, Vendor } from '../catalog/catalog.ts';
import { hasCompleteCredentials } from '../catalog/credentials.ts';
import type { WireFormats } from '../catalog/formats.ts';
import { compileGlob } from '../catalog/glob.ts';
import { inferKind, type ModelKind } from '../catalog/kinds.ts';
import { parsePickerName, nameInReply, publicNameOf } from '../catalog/model-name.ts';
import { type ProfileSettings, SharedProfiles } from '../catalog/profile.ts';
import { findClosestName } from '../file/mistake.ts';
import type { SectionValue, SectionValues } from '../section.ts';
import { service } from './core-sections.ts';
import { aliases, models, splitRoute } from './models-section.ts';
import { upstreams } from './upstreams-section.ts';

const maxCachedNames = 10_000; // clients can send any number of names
const maxMatchedLength = 256; // longer names are not matched with patterns

const modelsPerStep = 1_000;

interface VariantBase {
  readonly catalog: Catalog | undefined; // the base's catalog
  readonly name: string; // the variant's name
}

/**
 * Builds the catalog of a valid configuration. Omits routes to disabled upstreams.
 *
 * @param variant set for a variant. Upstreams and routes equal to those of its base are then the same objects, so that they share breakers
 *   and cooldowns. All others have their own health, so that neither catalog can make the other unavailable
 */
export function buildCatalog(...parts: Parameters<typeof buildCatalogInSteps>): Catalog {
  return runToEnd(buildCatalogInSteps(...parts));
}

/** Builds the catalog in steps, so that the gateway can keep serving. */
export function* buildCatalogInSteps(
  config: SectionValues,
  vendors: ReadonlyMap<string, Vendor>,
  formats: WireFormats,
  variant?: VariantBase,
): Generator<undefined, Catalog> {
  const baseUpstreams = Map.groupBy(variant?.catalog?.upstreams ?? [], ({ name }) => name);
  const upstreamsByName = new Map(
    Object.entries(config.get(upstreams)).map(([name, value]) => [
      name,
      reuseEqual(createUpstream(name, value, vendors), baseUpstreams.get(name), name, variant),
    ]),
  );
  const context: BuildContext = {
    prefix: config.get(service).prefix,
    upstreams: upstreamsByName,
    vendors,
    formats,
    profiles: new SharedProfiles(),
    variant,
    baseRoutes: Map.groupBy(variant?.catalog?.models.flatMap(({ routes }) => routes) ?? [], ({ id }) => id),
  };
  const allModels: Model[] = [];
  for (const [id, value] of Object.entries(config.get(models))) {
    if (allModels.push(createModel(id, value, context)) % modelsPerStep === 0) yield;
  }
  yield;
  return new ImmutableCatalog([...upstreamsByName.values()], allModels, config.get(aliases), context.prefix);
}

function reuseEqual<T extends Upstream | Route>(
  created: T,
  candidates: readonly T[] | undefined,
  name: string,
  variant: VariantBase | undefined,
): T {
  if (variant === undefined) return created;
  return (
    candidates?.find((candidate) => isDeepStrictEqual(candidate, created)) ?? {
      ...created,
      healthName: `${name} (${variant.name})`,
    }
  );
}

export function listCatalogNotices({ upstreams: all, models: availableModels, unavailable }: Catalog): string[] {
  const disabled = all.filter(({ isEnabled }) => !isEnabled);
  const withoutBackup = findModelsWithoutBackup(availableModels)
    .filter((model) => canHaveBackup(model, all))
    .map(({ id }) => id);
  return [
    ...disabled.map(({ name }) => `upstream ${name} is off: it has no API key; set one, or remove the upstream`),
    ...unavailable.map(
      ({ id }) =>
        `model ${id} is not offered: all of its upstreams are off; give it a route on another one, or remove the model`,
    ),
    ...(withoutBackup.length === 0
      ? []
      : [
          `without a backup route: ${joinNames(withoutBackup)}; give each a second route, on the upstream of another vendor`,
        ]),
  ];
}

const maxListedNames = 20;

function joinNames(names: readonly string[]): string {
  const remaining = names.length - maxListedNames;
  return names.slice(0, maxListedNames).join(', ') + (remaining > 0 ? ` and ${remaining} more` : '');
}

class ImmutableCatalog implements Catalog {
  readonly upstreams: readonly Upstream[];
  readonly models: readonly Model[];
  readonly listed: readonly ListedModel[];
  readonly unavailable: readonly Model[];
  readonly #prefix: string; // prefix of public names, including the slash
  readonly #byName: Map<string, Model>;
  readonly #byAlias: ReadonlyMap<string, Model>;
  readonly #patterns: readonly { readonly matches: (name: string) => boolean; readonly model: Model }[];
  readonly #patternResults = new Map<string, Model | undefined>();
  readonly #unavailableNames: ReadonlySet<string>; // including exact aliases
  readonly #unavailablePatterns: readonly ((name: string) => boolean)[];

  constructor(
    allUpstreams: readonly Upstream[],
    allModels: readonly Model[],
    aliasTargets: SectionValue<typeof aliases>,
    prefix: string,
  ) {
    this.#prefix = publicNameOf(prefix, '');
    this.upstreams = allUpstreams;
    this.models = allModels.filter(({ routes }) => routes.length > 0);
    this.unavailable = allModels.filter(({ routes }) => routes.length === 0);
    const byId = new Map(this.models.map((model) => [model.id, model]));
    const resolvedAliases = Object.keys(aliasTargets).flatMap((name) => {
      const model = byId.get(followAlias(name, aliasTargets));
      return model === undefined ? [] : [{ name, model }];
    });
    const exactAliases = resolvedAliases.filter(({ name }) => !name.includes('*'));
    this.listed = [
      ...this.models.map((model) => ({ name: model.publicName, model })),
      ...exactAliases.map(({ name, model }) => ({ name: this.#withPrefix(name), model })),
    ];
    this.#byName = new Map([
      ...byId,
      ...[...this.listed, ...exactAliases].map(({ name, model }) => [name, model] as const),
    ]);
    const unavailableIds = new Set(this.unavailable.map(({ id }) => id));
    const unavailableAliases = Object.keys(aliasTargets).filter((name) =>
      unavailableIds.has(followAlias(name, aliasTargets)),
    );
    this.#unavailableNames = new Set(
      [...unavailableIds, ...unavailableAliases].flatMap((name) => [name, this.#withPrefix(name)]),
    );
    this.#unavailablePatterns = unavailableAliases.filter((name) => name.includes('*')).map(compileGlob);
    this.#byAlias = new Map(resolvedAliases.map(({ name, model }) => [name, model]));
    this.#patterns = resolvedAliases
      .filter(({ name }) => name.includes('*'))
      .map(({ name, model }) => ({ matches: compileGlob(name), model }));
  }

  resolve(name: string): Model | undefined {
    // All listed models have the prefix, so clients add it to aliases too.
    const alias = name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : undefined;
    const exactMatch = this.#byName.get(name) ?? (alias === undefined ? undefined : this.#byAlias.get(alias));
    const pickedModel = exactMatch === undefined ? this.#byName.get(parsePickerName(name) ?? '') : undefined;
    if (pickedModel !== undefined) return pickedModel;
    if (exactMatch !== undefined || this.#patterns.length === 0 || name.length > maxMatchedLength) return exactMatch;
    if (this.#patternResults.has(name)) return this.#patternResults.get(name);
    const model = this.#patterns.find(({ matches }) => matches(name) || (alias !== undefined && matches(alias)))?.model;
    if (this.#patternResults.size < maxCachedNames) this.#patternResults.set(name, model);
    return model;
  }

  isUnavailable(name: string): boolean {
    if (this.#unavailableNames.has(name) || this.#unavailableNames.has(parsePickerName(name) ?? '')) return true;
    if (name.length > maxMatchedLength) return false;
    const alias = name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : name;
    return this.#unavailablePatterns.some((matches) => matches(name) || matches(alias));
  }

  #withPrefix(name: string): string {
    return name.startsWith(this.#prefix) ? name : this.#prefix + name;
  }

  suggest(name: string): string | undefined {
    const names = [...this.#byName.keys()];
    // Clients may also send another service's prefix, as in openai/gpt-6-sol.
    const closest = findClosestName(name, names) ?? findClosestName(name.slice(name.indexOf('/') + 1), names);
    const model = closest === undefined ? undefined : this.#byName.get(closest);
    return closest === undefined || model === undefined ? undefined : nameInReply(model, closest);
  }
}

function followAlias(alias: string, aliasTargets: Readonly<Record<string, string>>): string {
  let target = alias;
  while (Object.hasOwn(aliasTargets, target)) target = aliasTargets[target] as string;
  return target;
}

function createUpstream(
  name: string,
  value: SectionValue<typeof upstreams>[string],
  vendors: ReadonlyMap<string, Vendor>,
): Upstream {
  const vendor = value.vendor === undefined ? undefined : vendors.get(value.vendor);
  const { credentials } = value;
  const auth = value.auth ?? (credentials === undefined ? vendor?.auth : undefined) ?? 'bearer';
  const apiKeys = value.api_keys.filter((key) => key !== '');
  return {
    name,
    vendor: vendor?.name,
    formats: value.format === undefined ? (vendor?.formats ?? []) : [value.format].flat(),
    baseUrl: (value.base_url ?? vendor?.baseUrl ?? '').replace(/\/+$/, ''),
    auth,
    apiKeys,
    headers: { ...vendor?.headers, ...lowerCaseNames(value.headers) },
    endUser: value.end_user,
    isolatesCache: value.cache_isolation === 'account',
    customerChoices: value.customer_choices,
    continuesTraces: value.trace_context,
    capacity: toCapacity(value.capacity),
    credentials,
    isDemo: vendor?.isDemo === true,
    // A self-hosted endpoint may work without a key; a vendor's endpoint does not.
    isEnabled:
      credentials === undefined
        ? apiKeys.length > 0 || auth === 'none' || vendor === undefined
        : hasCompleteCredentials(credentials),
  };
}

const periods = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

function toCapacity(value: SectionValue<typeof upstreams>[string]['capacity']): Capacity | undefined {
  if (value === undefined) return undefined;
  const { concurrent = Infinity, requests = Infinity, per = 'minute' } = value;
  return { concurrent, requests, period: periods[per] };
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

interface BuildContext {
  readonly prefix: string;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly formats: WireFormats;
  readonly profiles: SharedProfiles;
  readonly variant: VariantBase | undefined;
  readonly baseRoutes: ReadonlyMap<string, readonly Route[]>;
}

function createModel(id: string, value: SectionValue<typeof models>[string], context: BuildContext): Model {
  const allRoutes = value.routes.map((route, index) => createRoute(route, index, value, context));
  const routes = allRoutes.filter(({ upstream }) => upstream.isEnabled);
  return {
    id,
    publicName: publicNameOf(context.prefix, id),
    displayName: value.display_name ?? id,
    kind: value.kind ?? findKind(allRoutes, context),
    routes,
    hedgeAfter: value.hedge_after,
    resume: value.resume,
    maxInputTokens: value.max_input_tokens,
    maxOutputTokens: value.max_tokens,
  };
}

function findKind(routes: readonly Route[], { vendors, formats }: BuildContext): ModelKind {
  const formatNames = routes.flatMap(({ upstream }) => upstream.formats);
  const presetKinds = routes.flatMap(
    ({ upstream, model }) => findVendorKind(vendors.get(upstream.vendor ?? ''), model) ?? [],
  );
  return inferKind(presetKinds[0], formatNames, formats);
}

function findVendorKind(vendor: Vendor | undefined, model: string): ModelKind | undefined {
  return vendor?.models?.findLast(({ match, kind }) => kind !== undefined && compileGlob(match)(model))?.kind;
}

type RouteSettings = Exclude<SectionValue<typeof models>[string]['routes'][number], string>;

function createRoute(
  value: RouteSettings | string,
  position: number,
  modelSettings: ProfileSettings & Pick<RouteSettings, 'max_input_tokens'>,
  { upstreams: upstreamsByName, vendors, profiles, variant, baseRoutes }: BuildContext,
): Route {
  const options: RouteSettings = typeof value === 'string' ? { to: value } : value;
  const [name, model] = splitRoute(options.to);
  const upstream = upstreamsByName.get(name) as Upstream;
  const vendor = upstream.vendor === undefined ? undefined : vendors.get(upstream.vendor);
  const route: Route = {
    id: options.to,
    upstream,
    model,
    priority: options.priority ?? position,
    weight: options.weight ?? 1,
    connectTimeout: options.connect_timeout,
    firstByteTimeout: options.first_byte_timeout,
    idleTimeout: options.idle_timeout,
    maxInputTokens: options.max_input_tokens ?? modelSettings.max_input_tokens,
    profile: profiles.merge(...listVendorProfiles(vendor, model), modelSettings, options),
  };
  return reuseEqual(route, baseRoutes.get(route.id), route.id, variant);
}

function listVendorProfiles(vendor: Vendor | undefined, model: string): ProfileSettings[] {
  if (vendor === undefined) return [];
  const modelProfiles = vendor.models?.filter(({ match }) => compileGlob(match)(model)) ?? [];
  return [vendor, ...modelProfiles];
}
