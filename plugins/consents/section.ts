import { createHash } from 'node:crypto';
import { defineSection } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { object, string } from '#core/platform/schema.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';

export const maxConsents = 5; // each is a checkbox at *Pay*

const wordsOptions = {
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000-\\u001f\\u007f]*\\S[^\\u0000-\\u001f\\u007f]*$',
} as const;

export const consentsSection = defineSection({
  name: 'consents',
  schema: {
    type: 'object',
    default: {},
    maxProperties: maxConsents,
    description:
      'What customers may consent to, by name. Each consent is an unticked box at Pay and an entry on an account page. Use it for what needs consent, such as marketing email; the gateway itself sends none. A consent covers only the words that were shown, so customers are asked again after a label changes.',
    propertyNames: {
      pattern: '^[a-z][a-z0-9_-]{0,39}$',
      description: 'A lowercase letter, followed by at most 39 lowercase letters, digits, hyphens and underscores.',
    },
    additionalProperties: object(['label'], {
      label: object(['en', 'id'], 'What the customer consents to, as plain text.', {
        en: string(wordsOptions, 'English text, on one line.'),
        id: string(wordsOptions, 'Indonesian text, on one line.'),
      }),
    }),
  },
});

export type ConsentWords = Readonly<Record<Language, string>>;

export interface Consent {
  readonly name: string;
  readonly label: ConsentWords;
  readonly digest: string; // SHA-256 of the name and the words in both languages, base64url
}

export function listDeclaredConsents({ section }: Pick<Host, 'section'>): Consent[] {
  return Object.entries(section(consentsSection)).map(([name, { label }]) => ({
    name,
    label,
    digest: createHash('sha256')
      .update([name, ...languages.map((language) => label[language])].join('\n'))
      .digest('base64url'),
  }));
}
