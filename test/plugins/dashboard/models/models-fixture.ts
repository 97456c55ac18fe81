import type { Model } from '#core/config/catalog/catalog.ts';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import coreEn from '#core/web/texts/en.json' with { type: 'json' };
import { getFormatter } from '#core/web/texts/formatter.ts';
import coreId from '#core/web/texts/id.json' with { type: 'json' };
import { Translator } from '#core/web/texts/translator.ts';
import type { ModelReading } from '../../../../plugins/dashboard/models/read-models.ts';
import en from '../../../../plugins/dashboard/models/texts/en.json' with { type: 'json' };
import id from '../../../../plugins/dashboard/models/texts/id.json' with { type: 'json' };
import { describeCapabilities } from '../../../../plugins/format/catalog/model-capabilities.ts';
import type { Format } from '../../../support/formats.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';

export const texts = en;
export const now = Date.UTC(2031, 4, 12, 12);
export const reader = {
  t: new Translator([
    { en, id },
    { en: coreEn, id: coreId },
  ]).in('en'),
  format: getFormatter('en', 'UTC'),
};

/** What is known of a model without requests, and these figures. */
export function readingOf(model: Model, figures: Partial<ModelReading> = {}): ModelReading {
  return {
    model,
    abilities: describeCapabilities(model),
    health: undefined,
    aliases: [],
    lacksBackup: false,
    notes: [],
    firstTokenMs: undefined,
    tokensPerSecond: undefined,
    uptime: () => undefined,
    history: () => [],
    ...figures,
  };
}

/** A model whose only route has this profile. */
export function withProfile(name: string, formats: readonly Format[], profile: ProfileSettings): Model {
  return modelOf(name, formats, {
    routes: [routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats }), { profile: mergeProfiles(profile) })],
  });
}
