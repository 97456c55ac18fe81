import type { Server } from '@hapi/hapi';
import { defineTexts } from '#core/web/texts/texts.ts';
import { createModelPage } from './model-page.ts';
import { createModelsPage } from './models-page.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

export function register({ gateway }: Server): void {
  gateway.texts(defineTexts({ en, id }));
  gateway.page(createModelsPage(gateway));
  gateway.page(createModelPage(gateway));
}
