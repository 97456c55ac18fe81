import { type FeatureSupport, type FormatAbilities, modelFeatures } from '#core/config/catalog/abilities.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { RouteNames } from '../route-names.ts';
import type { ModelReading } from './read-models.ts';

const supportIcons: Readonly<Record<FeatureSupport, string>> = { yes: 'ok', partly: 'info', no: 'close' };

export function describeDetail(
  { model, abilities }: Pick<ModelReading, 'model' | 'abilities'>,
  routeNames: RouteNames,
  { t }: Pick<PageRequest, 't'>,
) {
  const { conversations, others } = abilities;
  return {
    features: modelFeatures.map((feature) => t(`models.feature.${feature.replace(' ', '_')}`)),
    formats: conversations.map((format) => describeFormat(format, t)),
    losses: describeLosses(conversations, t),
    others: [...new Set(others.map((format) => t(`models.format.${format}`)))],
    routes: routeNames.areShown ? model.routes.map(({ id }) => routeNames.label(id, model.id)) : [],
  };
}

function describeFormat({ format, features }: FormatAbilities, t: PageRequest['t']) {
  return {
    name: t(`models.format.${format}`),
    cells: modelFeatures.map((feature) => ({
      label: t(`models.feature.${feature.replace(' ', '_')}`),
      icon: supportIcons[features[feature]],
      tone: features[feature] === 'yes' ? 'ok' : 'soft',
      text: t(`models.support.${features[feature]}`),
    })),
  };
}

function describeLosses(conversations: readonly FormatAbilities[], t: PageRequest['t']) {
  const losses = [...new Set(conversations.flatMap((conversation) => conversation.losses))];
  return losses.map((loss) => {
    const affected = conversations.filter((conversation) => conversation.losses.includes(loss));
    return {
      text: t(`models.loss.${loss}`),
      formats:
        affected.length === conversations.length
          ? ''
          : affected.map(({ format }) => t(`models.format.${format}`)).join(', '),
    };
  });
}
