import { fileURLToPath } from 'node:url';
import actionsEn from '#core/business/operator-actions/texts/en.json' with { type: 'json' };
import actionsId from '#core/business/operator-actions/texts/id.json' with { type: 'json' };
import { orderTexts } from '#core/business/payments/order-reason.ts';
import healthEn from '#core/gateway/health/texts/en.json' with { type: 'json' };
import healthId from '#core/gateway/health/texts/id.json' with { type: 'json' };
import upstreamEn from '#core/gateway/model-call/texts/en.json' with { type: 'json' };
import upstreamId from '#core/gateway/model-call/texts/id.json' with { type: 'json' };
import connectionEn from '#core/platform/errors/texts/en.json' with { type: 'json' };
import connectionId from '#core/platform/errors/texts/id.json' with { type: 'json' };
import { object, string } from '#core/platform/schema.ts';
import { type AssetSource, type Page, defineForm, Redirect } from '../pages/page.ts';
import { wellKnownPaths, ownPath } from '../pages/paths.ts';
import { viewsFolder } from '../pages/views.ts';
import en from '../texts/en.json' with { type: 'json' };
import id from '../texts/id.json' with { type: 'json' };
import { defineTexts, languages } from '../texts/texts.ts';
import { themes } from './visit.ts';

/** Texts for the layout, error pages and forms. */
export const ownTexts = defineTexts({ en, id });

/** All other page texts of core, including translations of logged and recorded sentences. */
export const coreTexts = [
  defineTexts({ en: actionsEn, id: actionsId }),
  defineTexts({ en: connectionEn, id: connectionId }),
  defineTexts(orderTexts),
  defineTexts({ en: healthEn, id: healthId }),
  defineTexts({ en: upstreamEn, id: upstreamId }),
];

/** Style sheets, scripts and images in `views/`, and htmx with its extension for server-sent events. */
export const ownAssets: readonly AssetSource[] = [
  { name: '', path: viewsFolder },
  { name: 'htmx.js', path: resolvePackageFile('htmx.org/dist/htmx.min.js') },
  { name: 'htmx-sse.js', path: resolvePackageFile('htmx-ext-sse/dist/sse.min.js') },
];

function resolvePackageFile(specifier: string): string {
  return fileURLToPath(import.meta.resolve(specifier));
}

/** The page behind "Account" in the bottom bar on phones: links to the account's pages, language, theme and sign-out. */
export const accountPage: Page = {
  path: wellKnownPaths.account,
  role: 'account',
  title: 'layout.account',
  template: 'shell/account.eta',
  show: () => ({}),
};

const preferencesForm = defineForm({
  fields: object({
    language: { enum: languages },
    theme: { enum: themes },
    next: string({ maxLength: 2000 }),
  }),
  async submit({ language, theme, next }, request) {
    if (language !== undefined) request.remember('language', language);
    if (language !== undefined && request.account !== undefined)
      await request.host.database.query('update account set language = ? where id = ?', [language, request.account.id]);
    if (theme !== undefined) request.remember('theme', theme);
    return new Redirect(ownPath(next));
  },
});

/** The page for choosing language and theme, which are stored in cookies. The layout's footer has the same form. */
export const preferencesPage: Page = {
  path: '/preferences',
  role: 'public',
  layout: 'plain',
  title: 'preferences.title',
  template: 'shell/preferences.eta',
  show: ({ query }) => ({ next: ownPath(query['next']) }),
  forms: [preferencesForm],
};
