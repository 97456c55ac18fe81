import type { Catalog } from '#core/config/catalog/catalog.ts';
import { findProductionReason } from '#core/config/sections/production.ts';
import type { ReviewedHost } from '#core/extension/registry.ts';
import type { LoadedGateway } from './context.ts';

export function createReviewedHost(
  { config, document }: Pick<LoadedGateway, 'config' | 'document'>,
  catalog: Catalog,
): ReviewedHost {
  return {
    section: (section) => config.get(section),
    files: (section) => config.files?.(section) ?? new Map(),
    stages: config.stages,
    isProduction: findProductionReason(config, document.isProduction) !== undefined,
    catalog,
  };
}
