import { type LossText, type ModelFeature, modelFeatures } from '#core/config/catalog/abilities.ts';
import type { Catalog, Model, Route } from '#core/config/catalog/catalog.ts';
import { type Profile, profileIn } from '#core/config/catalog/profile.ts';
import { alignColumns } from '#core/extension/commands/table-text.ts';
import type { CatalogProblem } from '#core/extension/registry.ts';
import type { ClientTextFormat, FormatDescriptor, TextFormat } from '../formats/contract/descriptor.ts';
import { clientTextFormats, formats, textFormats } from '../formats/formats.ts';
import { responses } from '../formats/responses/descriptor.ts';
import { selectPreferredFormat } from '../request/upstream-format.ts';

export type Support = 'yes' | 'no' | { readonly losses: readonly LossText[] };

const parallelCallsLoss = 'parallel tool calls cannot be disabled';

const hasCapability: Readonly<Record<ModelFeature, ((profile: Profile) => boolean) | undefined>> = {
  stream: undefined,
  tools: ({ capabilities }) => capabilities.tools,
  'parallel tools': ({ capabilities }) => capabilities.tools && capabilities.parallel_tools,
  images: ({ capabilities }) => capabilities.images,
  reasoning: ({ capabilities }) => capabilities.reasoning,
  'structured output': undefined,
};

export function determineSupport(client: ClientTextFormat, route: Route, feature: ModelFeature): Support {
  const upstream = selectFormat(client, route, feature);
  if (upstream === undefined) return 'no';
  const profile = profileIn(upstream.name, route.profile);
  if (hasCapability[feature]?.(profile) === false) return 'no';
  const routeLoss = findRouteLoss(client, upstream, { ...route, profile }, feature);
  const losses = [
    ...(routeLoss === undefined ? [] : [routeLoss]),
    ...listAdaptationLosses(client, upstream, profile, feature),
    ...(client === upstream ? [] : listTranslationLosses(client, upstream, feature)),
  ];
  return losses.length === 0 ? 'yes' : { losses };
}

function selectFormat(
  client: ClientTextFormat,
  { upstream, profile }: Route,
  feature: ModelFeature,
): TextFormat | undefined {
  // A model that cannot reason with tools in Chat gets requests with tools on the Responses endpoint.
  const isForTools = feature === 'tools' || feature === 'parallel tools';
  const needsResponses = isForTools && profile.quirks.responses_for_tools && upstream.formats.includes(responses.name);
  return needsResponses ? responses : selectPreferredFormat(client, upstream.formats);
}

/** Finds the loss that the route's adaptations and encoders cause for any client format. */
function findRouteLoss(
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
      // If a format has no way to disable parallel calls, nothing is lost.
      return quirks.parallel_switch || ![client, upstream].every(({ text }) => text.features.parallelCallOption)
        ? undefined
        : parallelCallsLoss;
    case 'reasoning':
      return findReasoningLoss(upstream, offered, profile);
    case 'structured output':
      return findStructureLoss(profile);
    case 'images':
    case 'stream':
      return undefined;
  }
}

function findReasoningLoss(
  upstream: TextFormat,
  offered: readonly string[],
  { capabilities, quirks }: Profile,
): LossText | undefined {
  if (quirks.reasoning === 'none') return 'reasoning effort cannot be set';
  const excludesTools =
    upstream !== responses && !offered.includes(responses.name) && quirks.responses_for_tools && capabilities.tools;
  return excludesTools ? 'no reasoning together with tools' : undefined;
}

type LossTable = readonly (readonly [feature: ModelFeature, loss: LossText, isLost: boolean])[];

function listAdaptationLosses(
  client: ClientTextFormat,
  upstream: TextFormat,
  { quirks }: Profile,
  feature: ModelFeature,
): LossText[] {
  const sender = client.text.features;
  const receiver = upstream.text.features;
  const losses: LossTable = [
    [
      'tools',
      'the grammar of freeform tools is described, not enforced',
      sender.freeformTools && !(receiver.freeformTools && quirks.freeform_tools),
    ],
    [
      'images',
      'images in tool results are sent in a user message',
      sender.resultImages && !(receiver.resultImages && quirks.tool_result_images),
    ],
  ];
  return selectLosses(feature, losses);
}

function selectLosses(feature: ModelFeature, losses: LossTable): LossText[] {
  const applicable = losses.filter(([lostFeature, , isLost]) => lostFeature === feature && isLost);
  return applicable.map(([, loss]) => loss);
}

function listTranslationLosses(client: ClientTextFormat, upstream: TextFormat, feature: ModelFeature): LossText[] {
  const sender = client.text.features;
  const receiver = upstream.text.features;
  const losses: LossTable = [
    ['tools', 'tool calls cannot be forced', !receiver.forcedTools],
    ['parallel tools', parallelCallsLoss, sender.parallelCallOption && !receiver.parallelCallOption],
    ['images', 'image URLs work only if Google can fetch them', receiver.imageUrls === 'reachable'],
    ['images', 'image URLs are refused', receiver.imageUrls === 'none'],
    ['reasoning', 'reasoning has no signature', receiver.reasoning === 'none'],
  ];
  return selectLosses(feature, losses);
}

function findStructureLoss({ capabilities }: Profile): LossText | undefined {
  if (capabilities.structured_output === 'schema') return undefined;
  return capabilities.structured_output === 'object'
    ? 'the schema is in the prompt; only JSON is enforced'
    : 'the schema is in the prompt; nothing is enforced';
}

/** For `daypass check`: the features that each client format gets on each route, and the losses of translation. */
export function describeMatrix({ models }: Catalog): string[] {
  const losses: LossText[] = [];
  const rows = models.flatMap((model) =>
    model.routes.flatMap((route) =>
      model.kind === 'chat'
        ? clientTextFormats.flatMap((client) => describeRow(model, client, route, losses))
        : describeOtherKind(model, route),
    ),
  );
  if (rows.length === 0) return [];
  const header = ['model', 'kind', 'route', 'client', 'upstream', ...modelFeatures];
  return [
    'client formats',
    ...alignColumns([header, ...rows]),
    ...losses.map((loss, index) => `  ${index + 1}: ${loss}`),
    '',
  ];
}

function describeRow(model: Model, client: ClientTextFormat, route: Route, losses: LossText[]): string[][] {
  const upstream = selectPreferredFormat(client, route.upstream.formats);
  if (upstream === undefined) return [];
  const cells = modelFeatures.map((feature) => renderCell(determineSupport(client, route, feature), losses));
  return [[model.id, model.kind, route.id, client.name, upstream.name, ...cells]];
}

function describeOtherKind({ id, kind }: Model, route: Route): string[][] {
  const served = formats.filter((format) => format.kind === kind && route.upstream.formats.includes(format.name));
  const names = served.map(({ name }) => name).join(', ');
  return [[id, kind, route.id, names, names]];
}

function renderCell(support: Support, numberedLosses: LossText[]): string {
  if (typeof support === 'string') return support;
  const numbers = support.losses.map((loss) => {
    const index = numberedLosses.indexOf(loss);
    return index === -1 ? numberedLosses.push(loss) : index + 1;
  });
  return `loss ${numbers.join(', ')}`;
}

export function findUselessBackups({ models }: Catalog): CatalogProblem[] {
  return models.flatMap(({ id, routes }) =>
    routes.flatMap((route, index) => {
      const [primary] = routes;
      if (primary === undefined || index === 0) return [];
      if (listServedFormats(route).some((format) => listServedFormats(primary).includes(format))) return [];
      const offered = route.upstream.formats.join(', ');
      return [
        {
          model: id,
          route: route.id,
          wrong: `supports only ${offered} and cannot serve any request that ${primary.id} serves`,
          right: 'remove it, or give it a separate model',
        },
      ];
    }),
  );
}

export function findUnservedKinds({ models }: Catalog): CatalogProblem[] {
  return models.flatMap(({ id, kind, routes }) =>
    routes.flatMap((route) => {
      const offered = formats.filter(({ name }) => route.upstream.formats.includes(name));
      if (offered.some((format) => format.kind === kind)) return [];
      const kinds = [...new Set(offered.map((format) => `kind: ${format.kind}`))];
      const wrong = `has no endpoint for models of kind ${kind}, only ${route.upstream.formats.join(', ')}`;
      return [{ model: id, route: route.id, wrong, right: `give the model ${kinds.join(' or ')}, or another route` }];
    }),
  );
}

function listServedFormats({ upstream }: Route): FormatDescriptor[] {
  const servesText = textFormats.some(({ name }) => upstream.formats.includes(name));
  return formats.filter(
    ({ client, text, name }) =>
      client !== undefined && (text === undefined ? upstream.formats.includes(name) : servesText),
  );
}
