import { defineTexts } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import en from './layout/texts/en.json' with { type: 'json' };
import id from './layout/texts/id.json' with { type: 'json' };

export const mailTexts = new Translator([defineTexts({ en, id })]);
