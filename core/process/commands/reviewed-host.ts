import type { Catalog } from '#core/config/catalog/catalog.ts';
import { productionOf } from '#core/config/sections/production.ts';
import type { ReviewedHost } from '#core/extension/registry.ts';
import type { Loaded } from './context.ts';

/** Provides the configuration to plugins' reviews. */
export function reviewedHost(
  { config, document }: Pick<Loaded, 'config' | 'document'>,
  catalog: Catalog,
): ReviewedHost {
  return {
    section: (section) => config.get(section),
    files: (section) => config.files?.(section) ?? new Map(),
    stages: config.stages,
    isProduction: productionOf(config, document.isProduction) !== undefined,
    catalog,
  };
}
