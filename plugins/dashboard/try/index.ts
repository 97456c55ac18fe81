import type { Server } from '@hapi/hapi';
import type { Page } from '#core/pages/page.ts';
import { defineTexts } from '#core/pages/texts.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

export const pages: readonly Page[] = [];

/** A model to try in the browser. */
export function register({ gateway }: Server): void {
  gateway.texts(defineTexts({ en, id }));
  for (const page of pages) gateway.page(page);
}
