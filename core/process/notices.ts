import { listPriceWarnings } from '#core/business/accounts/plans.ts';
import { listSectionNotices } from '#core/config/section.ts';
import { listCatalogNotices } from '#core/config/sections/build-catalog.ts';
import type { Registry } from '#core/extension/registry.ts';
import { getConfigLoadState } from '#core/extension/validation/load-state.ts';
import { findPipelineNotices } from '#core/extension/validation/pipeline-rules.ts';
import { findProductionNotices } from '#core/extension/validation/production-notices.ts';
import type { Config } from '#core/extension/validation/validate-config.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { listNodeNotices } from '#core/platform/node-release.ts';
import { describeRollback } from './describe-rollback.ts';

/** Lists warnings about the configuration in effect. */
export function listGatewayNotices(
  file: string,
  config: Config,
  host: Host,
  registry: Registry,
  isProduction: boolean,
): string[] {
  const { rollback } = getConfigLoadState(host);
  return [
    ...(rollback === undefined ? [] : [describeRollback(file, rollback)]),
    ...listNodeNotices(),
    ...findPipelineNotices(config.stages, registry, config),
    ...findProductionNotices(config, isProduction),
    ...listPriceWarnings(config),
    ...listSectionNotices(registry.sections.values(), config),
    ...registry.configReviews.flatMap(({ describe }) => describe(host)?.notice ?? []),
    ...listCatalogNotices(host.catalog),
  ];
}
