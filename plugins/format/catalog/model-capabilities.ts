import {
  type FeatureLoss,
  featureLosses,
  type FeatureSupport,
  type FormatAbilities,
  type LossText,
  type ModelAbilities,
  type ModelFeature,
  modelFeatures,
  type ModelSettings,
} from '#core/config/catalog/abilities.ts';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { Quirks } from '#core/config/catalog/quirks.ts';
import { dialects } from '#core/platform/errors/dialects.ts';
import { isRefusedMember } from '../formats/adaptation/adapt-refused.ts';
import { chat } from '../formats/chat/descriptor.ts';
import { type ClientTextFormat, type FormatDescriptor, isClientFormat } from '../formats/contract/descriptor.ts';
import { clientTextFormats, embeddingFormats, formats } from '../formats/formats.ts';
import { messages } from '../formats/messages/descriptor.ts';
import { selectPreferredFormat } from '../request/upstream-format.ts';
import { type Support, determineSupport } from './matrix.ts';

const lossNames = new Map(Object.entries(featureLosses).map(([name, text]) => [text, name as FeatureLoss]));

type RouteCapabilities = Omit<ModelAbilities, 'maxInputTokens' | 'maxOutputTokens'>;

/**
 * Capabilities shared by models (there may be thousands) with the same upstreams and settings. Keyed first by the quirks of the first
 * route, an object that routes with equal settings share, and then by all routes.
 */
const capabilityCache = new WeakMap<Quirks, Map<string, RouteCapabilities>>();

/** Describes the features of a model that clients of each format can use: those that all of its primary routes support. */
export function describeCapabilities(model: Model): ModelAbilities {
  const { input, output } = readLimits(model);
  return { ...findRouteCapabilities(model), maxInputTokens: input, maxOutputTokens: output };
}

function findRouteCapabilities(model: Model): RouteCapabilities {
  const [first] = model.routes;
  if (first === undefined) return describeRoutes(model);
  const byRoutes = capabilityCache.get(first.profile.quirks) ?? new Map<string, RouteCapabilities>();
  capabilityCache.set(first.profile.quirks, byRoutes);
  const key = [model.kind, ...model.routes.map((route) => `${createCapabilityKey(route)} ${route.priority}`)].join();
  const capabilities = byRoutes.get(key) ?? describeRoutes(model);
  byRoutes.set(key, capabilities);
  return capabilities;
}

const quirkNumbers = { count: 0, byQuirks: new WeakMap<Quirks, number>() };

function createCapabilityKey({ upstream, profile: { quirks } }: Route): string {
  const number = quirkNumbers.byQuirks.get(quirks) ?? quirkNumbers.count++;
  quirkNumbers.byQuirks.set(quirks, number);
  return `${number} ${upstream.vendor === undefined ? '-' : '+'} ${upstream.formats.join(' ')}`;
}

function describeRoutes(model: Model): RouteCapabilities {
  const conversations =
    model.kind === 'chat' ? clientTextFormats.flatMap((client) => describeFormat(client, model)) : [];
  const others = formats.filter((format) => canCallInFormat(format, model)).map(({ name }) => name);
  return {
    conversations,
    others,
    vendors: listVendors([...conversations.map(({ format }) => format), ...others]),
    inputs: model.kind === 'chat' ? describeInputs(model) : [],
    settings: describeChatSettings(model),
  };
}

function listVendors(formatNames: readonly string[]): string[] {
  const clientFormats = formats.filter(isClientFormat).filter(({ name }) => formatNames.includes(name));
  return [...new Set(clientFormats.map(({ client, dialect }) => client.vendor ?? dialects[dialect].vendor))];
}

function describeInputs({ routes }: Model): ('files' | 'audio' | 'video')[] {
  const primary = selectPrimaryRoutes(routes);
  return (['files', 'audio', 'video'] as const).filter((input) =>
    // Endpoints without a vendor preset do not declare their support.
    primary.every(({ upstream, profile }) => upstream.vendor !== undefined && profile.capabilities[input]),
  );
}

function describeChatSettings({ routes }: Model): ModelSettings {
  const primary = selectPrimaryRoutes(routes);
  const profiles = primary.flatMap(({ upstream, profile }) => {
    const format = selectPreferredFormat(chat, upstream.formats);
    return format === undefined ? [] : [profileIn(format.name, profile)];
  });
  const [first, ...others] = profiles.map(({ capabilities, quirks }) =>
    capabilities.reasoning && quirks.reasoning !== 'none' ? quirks.efforts : [],
  );
  return {
    sampling: profiles.length > 0 && profiles.every(({ quirks }) => quirks.sampling),
    efforts: (first ?? []).filter((effort) => others.every((efforts) => efforts.includes(effort))),
    safeguards: primary.length > 0 && primary.every(hasSafeguards),
  };
}

function hasSafeguards({ upstream, profile }: Route): boolean {
  // Only the Messages format has safeguards.
  if (selectPreferredFormat(messages, upstream.formats) !== messages) return false;
  const { quirks } = profileIn(messages.name, profile);
  return (quirks.betas || quirks.safeguards) && !isRefusedMember('safeguards', quirks);
}

function canCallInFormat({ client, text, kind, name }: FormatDescriptor, model: Model): boolean {
  if (client === undefined || text !== undefined || kind !== model.kind) return false;
  // Embedding formats are translated into each other.
  const names = kind === 'embedding' ? embeddingFormats.map((format) => format.name) : [name];
  return model.routes.some(({ upstream }) => upstream.formats.some((format) => names.includes(format)));
}

function describeFormat(client: ClientTextFormat, { routes }: Model): FormatAbilities[] {
  const usable = routes.filter(({ upstream }) => selectPreferredFormat(client, upstream.formats) !== undefined);
  const primary = selectPrimaryRoutes(usable);
  if (primary.length === 0) return [];
  const losses = new Set<LossText>();
  const features = modelFeatures.map((feature) => [
    feature,
    summarizeSupport(client, primary, usable, feature, losses),
  ]);
  return [
    {
      format: client.name,
      features: Object.fromEntries(features) as FormatAbilities['features'],
      losses: [...losses].flatMap((text) => lossNames.get(text) ?? []),
    },
  ];
}

function summarizeSupport(
  client: ClientTextFormat,
  primaryRoutes: readonly Route[],
  usableRoutes: readonly Route[],
  feature: ModelFeature,
  collectedLosses: Set<LossText>,
): FeatureSupport {
  const supports = primaryRoutes.map((route) => determineSupport(client, route, feature));
  for (const loss of supports.flatMap(lossesOf)) collectedLosses.add(loss);
  if (supports.every((support) => support === 'yes')) return 'yes';
  const isSupportedAnywhere = usableRoutes.some((route) => determineSupport(client, route, feature) !== 'no');
  return isSupportedAnywhere ? 'partly' : 'no';
}

function lossesOf(support: Support): readonly LossText[] {
  return typeof support === 'string' ? [] : support.losses;
}

interface ModelLimits {
  readonly input: number | undefined; // tokens
  readonly output: number | undefined; // tokens
}

/** Backup routes do not count, because a prompt that is too long for one route is sent to another. */
export function readLimits({ routes, maxInputTokens, maxOutputTokens }: Model): ModelLimits {
  const primary = selectPrimaryRoutes(routes);
  return {
    input: maxInputTokens ?? findSmallestLimit(primary, (route) => route.maxInputTokens),
    output: maxOutputTokens ?? findSmallestLimit(primary, (route) => route.profile.quirks.max_output_tokens),
  };
}

function selectPrimaryRoutes(routes: readonly Route[]): readonly Route[] {
  return routes.filter(({ priority }) => priority === routes[0]?.priority);
}

function findSmallestLimit(
  routes: readonly Route[],
  readLimit: (route: Route) => number | undefined,
): number | undefined {
  // Routes without a limit are assumed not to have a smaller one.
  const limits = routes.map(readLimit).filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
}
