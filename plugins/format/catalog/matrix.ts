import { type LossText, type ModelFeature, modelFeatures } from '#core/config/catalog/abilities.ts';
import type { Catalog, Model, Route } from '#core/config/catalog/catalog.ts';
import { alignColumns } from '#core/extension/commands/table-text.ts';
import type { CatalogProblem } from '#core/extension/registry.ts';
import { type Profile, profileIn } from '#core/config/catalog/profile.ts';
import type { ClientTextFormat, FormatDescriptor, TextFormat } from '../formats/contract/descriptor.ts';
import { clientTextFormats, formats, textFormats } from '../formats/formats.ts';
import { responses } from '../formats/responses/descriptor.ts';
import { preferredFormat } from '../request/upstream-format.ts';

/** `yes`, `no`, or the losses. */
export type Support = 'yes' | 'no' | { readonly losses: readonly LossText[] };

const noParallelSwitch = 'parallel tool calls cannot be disabled';

const capabilityOf: Readonly<Record<ModelFeature, ((profile: Profile) => boolean) | undefined>> = {
  stream: undefined,
  tools: ({ capabilities }) => capabilities.tools,
  'parallel tools': ({ capabilities }) => capabilities.tools && capabilities.parallel_tools,
  images: ({ capabilities }) => capabilities.images,
  reasoning: ({ capabilities }) => capabilities.reasoning,
  'structured output': undefined,
};

/** Support of a feature on a route for a client of a format. */
export function supportOf(client: ClientTextFormat, route: Route, feature: ModelFeature): Support {
  const upstream = formatFor(client, route, feature);
  if (upstream === undefined) return 'no';
  const profile = profileIn(upstream.name, route.profile);
  if (capabilityOf[feature]?.(profile) === false) return 'no';
  const refused = refusalOf(client, upstream, { ...route, profile }, feature);
  const adapted = adaptationLosses(client, upstream, profile, feature);
  const untranslated = client === upstream ? [] : translationLosses(client, upstream, feature);
  const losses = [...(refused === undefined ? [] : [refused]), ...adapted, ...untranslated];
  return losses.length === 0 ? 'yes' : { losses };
}

/** A model that cannot reason with tools in Chat gets requests with tools on the Responses endpoint, where it can. */
function formatFor(
  client: ClientTextFormat,
  { upstream, profile }: Route,
  feature: ModelFeature,
): TextFormat | undefined {
  const isForTools = feature === 'tools' || feature === 'parallel tools';
  const isElsewhere = isForTools && profile.quirks.responses_for_tools && upstream.formats.includes(responses.name);
  return isElsewhere ? responses : preferredFormat(client, upstream.formats);
}

/** The feature as limited by the route itself, in any format: see the adaptations and the encoders. */
function refusalOf(
  client: ClientTextFormat,
  upstream: TextFormat,
  { upstream: { formats: offered }, profile }: Route,
  feature: ModelFeature,
): LossText | undefined {
  const { quirks } = profile;
  switch (feature) {
    case 'tools':
      return quirks.forced_tools ? undefined : 'tool calls cannot be forced';
    case 'parallel tools':
      // A format that cannot express the switch loses nothing.
      return quirks.parallel_switch || ![client, upstream].every(({ text }) => text.features.parallelCallOption)
        ? undefined
        : noParallelSwitch;
    case 'reasoning':
      return refusalOfReasoning(upstream, offered, profile);
    case 'structured output':
      return lossOfStructure(profile);
    case 'images':
    case 'stream':
      return undefined;
  }
}

function refusalOfReasoning(
  upstream: TextFormat,
  offered: readonly string[],
  { capabilities, quirks }: Profile,
): LossText | undefined {
  if (quirks.reasoning === 'none') return 'reasoning effort cannot be set';
  const isTornApart =
    upstream !== responses && !offered.includes(responses.name) && quirks.responses_for_tools && capabilities.tools;
  return isTornApart ? 'no reasoning together with tools' : undefined;
}

type LossTable = readonly (readonly [ModelFeature, LossText, boolean])[];

/** Losses that also apply to routes of the client's own format. */
function adaptationLosses(
  client: ClientTextFormat,
  upstream: TextFormat,
  { quirks }: Profile,
  feature: ModelFeature,
): LossText[] {
  const says = client.text.features;
  const there = upstream.text.features;
  const losses: LossTable = [
    [
      'tools',
      'the grammar of freeform tools is described, not enforced',
      says.freeformTools && !(there.freeformTools && quirks.freeform_tools),
    ],
    [
      'images',
      'images in tool results are sent in a user message',
      says.resultImages && !(there.resultImages && quirks.tool_result_images),
    ],
  ];
  return lossesOf(feature, losses);
}

function lossesOf(feature: ModelFeature, losses: LossTable): LossText[] {
  return losses.flatMap(([of, loss, isLost]) => (of === feature && isLost ? [loss] : []));
}

/** Features that the other format cannot express. */
function translationLosses(client: ClientTextFormat, upstream: TextFormat, feature: ModelFeature): LossText[] {
  const says = client.text.features;
  const there = upstream.text.features;
  const losses: LossTable = [
    ['tools', 'tool calls cannot be forced', !there.forcedTools],
    ['parallel tools', noParallelSwitch, says.parallelCallOption && !there.parallelCallOption],
    ['images', 'image URLs work only if Google can fetch them', there.imageUrls === 'reachable'],
    ['images', 'image URLs are refused', there.imageUrls === 'none'],
    ['reasoning', 'reasoning has no signature', there.reasoning === 'none'],
  ];
  return lossesOf(feature, losses);
}

function lossOfStructure({ capabilities }: Profile): LossText | undefined {
  if (capabilities.structured_output === 'schema') return undefined;
  return capabilities.structured_output === 'object'
    ? 'the schema is in the prompt; only JSON is enforced'
    : 'the schema is in the prompt; nothing is enforced';
}

/** Lines for `daypass check`: what each client format gets on each route, and what is lost on the way. */
export function describeMatrix({ models }: Catalog): string[] {
  const losses: LossText[] = [];
  const rows = models.flatMap((model) =>
    model.routes.flatMap((route) =>
      model.kind === 'chat'
        ? clientTextFormats.flatMap((client) => describeRow(model, client, route, losses))
        : describeOther(model, route),
    ),
  );
  if (rows.length === 0) return [];
  const head = ['model', 'kind', 'route', 'client', 'upstream', ...modelFeatures];
  return [
    'client formats',
    ...alignColumns([head, ...rows]),
    ...losses.map((loss, index) => `  ${index + 1}: ${loss}`),
    '',
  ];
}

function describeRow(model: Model, client: ClientTextFormat, route: Route, losses: LossText[]): string[][] {
  const upstream = preferredFormat(client, route.upstream.formats);
  if (upstream === undefined) return [];
  const cells = modelFeatures.map((feature) => cellOf(supportOf(client, route, feature), losses));
  return [[model.id, model.kind, route.id, client.name, upstream.name, ...cells]];
}

/** Endpoints of other kinds, except embeddings, are called in their own format; they have none of the features. */
function describeOther({ id, kind }: Model, route: Route): string[][] {
  const served = formats.filter((format) => format.kind === kind && route.upstream.formats.includes(format.name));
  const names = served.map(({ name }) => name).join(', ');
  return [[id, kind, route.id, names, names]];
}

function cellOf(support: Support, losses: LossText[]): string {
  if (typeof support === 'string') return support;
  const numbers = support.losses.map((loss) => {
    const known = losses.indexOf(loss);
    return known === -1 ? losses.push(loss) : known + 1;
  });
  return `loss ${numbers.join(', ')}`;
}

/** Reports backup routes that cannot take over any request of their primary route, before they are needed. */
export function findUselessBackups({ models }: Catalog): CatalogProblem[] {
  return models.flatMap(({ id, routes }) =>
    routes.flatMap((route, index) => {
      const [primary] = routes;
      if (primary === undefined || index === 0 || servedBy(route).some((one) => servedBy(primary).includes(one)))
        return [];
      const offered = route.upstream.formats.join(', ');
      return [
        {
          model: id,
          route: route.id,
          wrong: `speaks only ${offered} and can take over nothing that ${primary.id} serves`,
          right: 'remove it, or give it a model of its own',
        },
      ];
    }),
  );
}

/** Reports routes without an endpoint for the kind of their model: they could serve no request. */
export function findUnservedKinds({ models }: Catalog): CatalogProblem[] {
  return models.flatMap(({ id, kind, routes }) =>
    routes.flatMap((route) => {
      const offered = formats.filter(({ name }) => route.upstream.formats.includes(name));
      if (offered.some((format) => format.kind === kind)) return [];
      const kinds = [...new Set(offered.map((format) => `kind: ${format.kind}`))];
      const wrong = `has no endpoint for models of the kind ${kind}, only ${route.upstream.formats.join(', ')}`;
      return [{ model: id, route: route.id, wrong, right: `give the model ${kinds.join(' or ')}, or another route` }];
    }),
  );
}

/** Client formats that a route can serve. */
function servedBy({ upstream }: Route): FormatDescriptor[] {
  const speaksText = textFormats.some(({ name }) => upstream.formats.includes(name));
  return formats.filter(
    ({ client, text, name }) =>
      client !== undefined && (text === undefined ? upstream.formats.includes(name) : speaksText),
  );
}
