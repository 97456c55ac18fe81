import { isDeepStrictEqual } from 'node:util';
import { service } from './core-sections.ts';
import type { Capacity, Catalog, ListedModel, Model, Route, Upstream, Vendor } from '../catalog/catalog.ts';
import { isComplete } from '../catalog/credentials.ts';
import type { WireFormats } from '../catalog/formats.ts';
import { glob } from '../catalog/glob.ts';
import { couldHaveBackup, modelsWithoutBackup } from '../catalog/backups.ts';
import { inferKind, type ModelKind } from '../catalog/kinds.ts';
import { nameInPicker, nameInReply, publicNameOf } from '../catalog/model-name.ts';
import { aliases, models, splitRoute } from './models-section.ts';
import { upstreams } from './upstreams-section.ts';
import { closestName } from '../file/mistake.ts';
import { runToEnd } from '#core/platform/timing/turn.ts';
import type { SectionValue, SectionValues } from '../section.ts';
import { type ProfileSettings, SharedProfiles } from '../catalog/profile.ts';

/** Names that patterns matched; without a limit, clients could fill the memory. */
const maxCachedNames = 10_000;

const modelsPerStep = 1_000;

interface VariantBase {
  readonly catalog: Catalog | undefined;
  readonly name: string; // name of the variant
}

/**
 * Builds the catalog of a valid configuration. Routes of upstreams that are off are left out.
 *
 * @param variant set for a variant. Upstreams and routes equal to those of its base are the same objects and share breakers and
 *   cooldowns; all others have separate health, so that neither catalog can take the other out of service
 */
export function buildCatalog(...parts: Parameters<typeof buildCatalogInSteps>): Catalog {
  return runToEnd(buildCatalogInSteps(...parts));
}

/** Builds the catalog in steps, while the gateway continues to serve. */
export function* buildCatalogInSteps(
  config: SectionValues,
  vendors: ReadonlyMap<string, Vendor>,
  formats: WireFormats,
  variant?: VariantBase,
): Generator<undefined, Catalog> {
  const knownUpstreams = Map.groupBy(variant?.catalog?.upstreams ?? [], ({ name }) => name);
  const upstreamsByName = new Map(
    Object.entries(config.get(upstreams)).map(([name, value]) => [
      name,
      share(readUpstream(name, value, vendors), knownUpstreams.get(name), name, variant),
    ]),
  );
  const parts: Parts = {
    prefix: config.get(service).prefix,
    upstreams: upstreamsByName,
    vendors,
    formats,
    profiles: new SharedProfiles(),
    variant,
    known: Map.groupBy(variant?.catalog?.models.flatMap(({ routes }) => routes) ?? [], ({ id }) => id),
  };
  const all: Model[] = [];
  for (const [id, value] of Object.entries(config.get(models))) {
    if (all.push(readModel(id, value, parts)) % modelsPerStep === 0) yield;
  }
  yield;
  return new FixedCatalog([...upstreamsByName.values()], all, config.get(aliases), parts.prefix);
}

/** Returns the equal object of the other catalog, or this one with separate health. */
function share<T extends Upstream | Route>(
  made: T,
  known: readonly T[] | undefined,
  name: string,
  variant: VariantBase | undefined,
): T {
  if (variant === undefined) return made;
  return known?.find((one) => isDeepStrictEqual(one, made)) ?? { ...made, healthName: `${name} (${variant.name})` };
}

/** Returns warnings about a catalog: upstreams that are off, models without routes because of that, and models without a backup. */
export function catalogNotices({ upstreams: all, models: offered, unavailable }: Catalog): string[] {
  const off = all.filter(({ isEnabled }) => !isEnabled);
  const alone = modelsWithoutBackup(offered)
    .filter((model) => couldHaveBackup(model, all))
    .map(({ id }) => id);
  return [
    ...off.map(({ name }) => `upstream ${name} is off: it has no API key; set one, or remove the upstream`),
    ...unavailable.map(
      ({ id }) =>
        `model ${id} is not offered: all of its upstreams are off; give it a route on another one, or remove the model`,
    ),
    ...(alone.length === 0
      ? []
      : [`without a backup route: ${listNames(alone)}; give each a second route, on the upstream of another vendor`]),
  ];
}

const maxListedNames = 20;

function listNames(names: readonly string[]): string {
  const more = names.length - maxListedNames;
  return names.slice(0, maxListedNames).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

class FixedCatalog implements Catalog {
  readonly upstreams: readonly Upstream[];
  readonly models: readonly Model[];
  readonly listed: readonly ListedModel[];
  readonly unavailable: readonly Model[];
  readonly #prefix: string; // prefix of public names, with the slash
  readonly #byName: Map<string, Model>;
  readonly #byAlias: ReadonlyMap<string, Model>;
  readonly #patterns: readonly { readonly matches: (name: string) => boolean; readonly model: Model }[];
  readonly #remembered = new Map<string, Model | undefined>();
  /** Every name of models whose upstreams are all off; aliases with wildcards are separate. */
  readonly #off: ReadonlySet<string>;
  readonly #offPatterns: readonly ((name: string) => boolean)[];

  constructor(all: readonly Upstream[], every: readonly Model[], names: SectionValue<typeof aliases>, prefix: string) {
    this.#prefix = publicNameOf(prefix, '');
    this.upstreams = all;
    this.models = every.filter(({ routes }) => routes.length > 0);
    this.unavailable = every.filter(({ routes }) => routes.length === 0);
    const byId = new Map(this.models.map((model) => [model.id, model]));
    const found = Object.keys(names).flatMap((name) => {
      const model = byId.get(followAlias(name, names));
      return model === undefined ? [] : [{ name, model }];
    });
    const exact = found.filter(({ name }) => !name.includes('*'));
    this.listed = [
      ...this.models.map((model) => ({ name: model.publicName, model })),
      ...exact.map(({ name, model }) => ({ name: this.#withPrefix(name), model })),
    ];
    this.#byName = new Map([...byId, ...[...this.listed, ...exact].map(({ name, model }) => [name, model] as const)]);
    const off = new Set(this.unavailable.map(({ id }) => id));
    const offNames = Object.keys(names).filter((name) => off.has(followAlias(name, names)));
    this.#off = new Set([...off, ...offNames].flatMap((name) => [name, this.#withPrefix(name)]));
    this.#offPatterns = offNames.filter((name) => name.includes('*')).map(glob);
    this.#byAlias = new Map(found.map(({ name, model }) => [name, model]));
    this.#patterns = found
      .filter(({ name }) => name.includes('*'))
      .map(({ name, model }) => ({ matches: glob(name), model }));
  }

  resolve(name: string): Model | undefined {
    // Every listed model has the prefix, so clients also put it before aliases.
    const alias = name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : undefined;
    const exact = this.#byName.get(name) ?? (alias === undefined ? undefined : this.#byAlias.get(alias));
    const picked = exact === undefined ? this.#byName.get(nameInPicker(name) ?? '') : undefined;
    if (picked !== undefined) return picked;
    if (exact !== undefined || this.#patterns.length === 0 || name.length > 256) return exact;
    if (this.#remembered.has(name)) return this.#remembered.get(name);
    const model = this.#patterns.find(({ matches }) => matches(name) || (alias !== undefined && matches(alias)))?.model;
    if (this.#remembered.size < maxCachedNames) this.#remembered.set(name, model);
    return model;
  }

  isUnavailable(name: string): boolean {
    if (this.#off.has(name) || this.#off.has(nameInPicker(name) ?? '')) return true;
    if (name.length > 256) return false;
    const alias = name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : name;
    return this.#offPatterns.some((matches) => matches(name) || matches(alias));
  }

  #withPrefix(name: string): string {
    return name.startsWith(this.#prefix) ? name : this.#prefix + name;
  }

  suggest(name: string): string | undefined {
    const names = [...this.#byName.keys()];
    // Clients also send the prefix of another service, such as openai/gpt-6-sol.
    const closest = closestName(name, names) ?? closestName(name.slice(name.indexOf('/') + 1), names);
    const model = closest === undefined ? undefined : this.#byName.get(closest);
    return closest === undefined || model === undefined ? undefined : nameInReply(model, closest);
  }
}

function followAlias(alias: string, names: Readonly<Record<string, string>>): string {
  let target = alias;
  while (Object.hasOwn(names, target)) target = names[target] as string;
  return target;
}

function readUpstream(
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
    headers: { ...vendor?.headers, ...lowerCased(value.headers) },
    endUser: value.end_user,
    isolatesCache: value.cache_isolation === 'account',
    customerChoices: value.customer_choices,
    continuesTraces: value.trace_context,
    capacity: readCapacity(value.capacity),
    credentials,
    isDemo: vendor?.isDemo === true,
    // A self-hosted endpoint may work without a key; a vendor's does not.
    isEnabled:
      credentials === undefined
        ? apiKeys.length > 0 || auth === 'none' || vendor === undefined
        : isComplete(credentials),
  };
}

const periods = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

function readCapacity(value: SectionValue<typeof upstreams>[string]['capacity']): Capacity | undefined {
  if (value === undefined) return undefined;
  const { concurrent = Infinity, requests = Infinity, per = 'minute' } = value;
  return { concurrent, requests, period: periods[per] };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

interface Parts {
  readonly prefix: string;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly vendors: ReadonlyMap<string, Vendor>;
  readonly formats: WireFormats;
  readonly profiles: SharedProfiles;
  readonly variant: VariantBase | undefined;
  readonly known: ReadonlyMap<string, readonly Route[]>;
}

function readModel(id: string, value: SectionValue<typeof models>[string], parts: Parts): Model {
  const all = value.routes.map((route, index) => readRoute(route, index, value, parts));
  const routes = all.filter(({ upstream }) => upstream.isEnabled);
  return {
    id,
    publicName: publicNameOf(parts.prefix, id),
    displayName: value.display_name ?? id,
    kind: value.kind ?? kindOf(all, parts),
    routes,
    hedgeAfter: value.hedge_after,
    resume: value.resume,
    maxInputTokens: value.max_input_tokens,
    maxOutputTokens: value.max_tokens,
  };
}

function kindOf(routes: readonly Route[], { vendors, formats }: Parts): ModelKind {
  const spoken = routes.flatMap(({ upstream }) => upstream.formats);
  const preset = routes.flatMap(({ upstream, model }) => vendorKind(vendors.get(upstream.vendor ?? ''), model) ?? []);
  return inferKind(preset[0], spoken, formats);
}

function vendorKind(vendor: Vendor | undefined, model: string): ModelKind | undefined {
  return vendor?.models?.findLast(({ match, kind }) => kind !== undefined && glob(match)(model))?.kind;
}

function readRoute(
  value: RouteSettings | string,
  position: number,
  ofModel: ProfileSettings & Pick<RouteSettings, 'max_input_tokens'>,
  { upstreams: all, vendors, profiles, variant, known }: Parts,
): Route {
  const options: RouteSettings = typeof value === 'string' ? { to: value } : value;
  const [name, model] = splitRoute(options.to);
  const upstream = all.get(name) as Upstream;
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
    maxInputTokens: options.max_input_tokens ?? ofModel.max_input_tokens,
    profile: profiles.merge(...vendorProfiles(vendor, model), ofModel, options),
  };
  return share(route, known.get(route.id), route.id, variant);
}

type RouteSettings = Exclude<SectionValue<typeof models>[string]['routes'][number], string>;

/** The vendor preset's profile settings for a model, general ones first. */
function vendorProfiles(vendor: Vendor | undefined, model: string): ProfileSettings[] {
  if (vendor === undefined) return [];
  const particular = vendor.models?.filter(({ match }) => glob(match)(model)) ?? [];
  return [vendor, ...particular];
}
