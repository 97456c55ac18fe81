import { defineTexts } from '#core/web/texts/texts.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

export const statusTexts = defineTexts({ en, id });
