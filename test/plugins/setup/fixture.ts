import type { Model } from '#core/config/catalog/catalog.ts';
import type { SectionValue } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { describeCapabilities } from '../../../plugins/format/catalog/model-capabilities.ts';
import type { SetupHost } from '../../../plugins/setup/defaults.ts';
import type { setupSection } from '../../../plugins/setup/section.ts';
import { hostOf } from '../format/catalog/catalog-fixture.ts';

export const registry = { abilityReader: describeCapabilities };

type SetupSettings = SectionValue<typeof setupSection>;

/** A host with these models and settings of the section `setup`; the alias `alias` leads to the first model. */
export function setupHost(
  models: readonly Model[],
  service: Partial<Host['service']> = {},
  setup: Partial<SetupSettings> = {},
): SetupHost {
  const { catalog } = hostOf(models);
  const section = (() => ({ formats: {}, former_names: [], ...setup })) as unknown as Host['section'];
  const named = { name: 'Daypass', prefix: 'dp', slug: 'daypass', baseUrl: 'https://ai.example', contact: undefined };
  return { catalog, section, service: { ...named, ...service } };
}
