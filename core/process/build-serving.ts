import type { Catalog } from '#core/config/catalog/catalog.ts';
import { createVariantName } from '#core/config/history/history.ts';
import type { SectionValue } from '#core/config/section.ts';
import { buildCatalogInSteps } from '#core/config/sections/build-catalog.ts';
import { listen } from '#core/config/sections/core-sections.ts';
import type { VendorServers } from '#core/config/sections/vendor-servers.ts';
import type { Assembly } from '#core/extension/assembly.ts';
import type { Config } from '#core/extension/validation/validate-config.ts';
import { hasSameStages } from '#core/extension/validation/variant-rules.ts';
import { createHost } from '#core/gateway/host/host.ts';
import { getConnectionReader } from '#core/gateway/http/client-connection.ts';
import type { BodyLimits } from '#core/gateway/http/collect-body.ts';
import type { Serving } from '#core/gateway/http/open-exchange.ts';
import { buildPipeline } from '#core/gateway/pipeline/build.ts';
import type { Logger } from '#core/platform/logger.ts';
import { runInTurns } from '#core/platform/timing/turn.ts';
import type { OpenServices } from './services.ts';

/** The parts of a gateway that a configuration is built from. */
export interface BuildParts {
  readonly log: Logger;
  readonly assembly: Assembly;
  readonly services: OpenServices;
  readonly vendors: VendorServers;
}

interface BuiltVariant {
  readonly number: number;
  readonly base: { readonly config: Config; readonly catalog: Catalog };
}

/**
 * Builds everything that exchanges need from a configuration, while the current one keeps serving. If one part cannot be built, all are
 * released.
 *
 * @param check throws to refuse the configuration
 */
export async function buildServing(
  parts: BuildParts,
  config: Config,
  check: (candidate: Serving) => void,
  variant?: BuiltVariant,
): Promise<Serving> {
  const resources = new AsyncDisposableStack();
  try {
    const serving = await build(parts, config, resources, variant);
    resources.defer(() => serving.pipeline.retire());
    check(serving);
    return serving;
  } catch (error) {
    await resources.disposeAsync().catch((failure: unknown) => {
      parts.log.error('resources of the rejected configuration could not be released', failure);
    });
    throw error;
  }
}

async function build(
  { assembly, vendors, services: { services, keeper } }: BuildParts,
  config: Config,
  resources: AsyncDisposableStack,
  variant: BuiltVariant | undefined,
): Promise<Serving> {
  const runningVendors = await vendors.startServers(config, resources);
  // If the stages differ, health is not shared: with the timeouts of one configuration, responses could count as faults in the other.
  const variantBase = variant && {
    name: createVariantName(variant.number),
    catalog: hasSameStages(config, variant.base.config) ? variant.base.catalog : undefined,
  };
  const catalog = await runInTurns(buildCatalogInSteps(config, runningVendors, assembly.registry.formats, variantBase));
  const buildServices = { ...services, keep: keeper.forBuild(resources) };
  const host = createHost(buildServices, config, catalog, config.stages, variant?.number);
  const listenSection = config.get(listen);
  return {
    host,
    pipeline: await buildPipeline(
      config.stages,
      host,
      assembly.registry.observers.values(),
      listenSection.stage_timeout,
    ),
    bodyLimits: toBodyLimits(listenSection),
    writeTimeout: listenSection.write_timeout,
    readConnection: getConnectionReader(host),
    corsOrigins: new Set(listenSection.cors_origins),
  };
}

export function toBodyLimits(section: SectionValue<typeof listen>): BodyLimits {
  return { maxBytes: section.max_body_bytes, timeout: section.body_timeout, minRate: section.body_rate };
}
