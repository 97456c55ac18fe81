import { defineForm, type Page, Redirect } from '../pages/page.ts';
import { languages } from '../texts/texts.ts';
import { themes } from './visit.ts';
import { ownPath } from '../pages/own-path.ts';
import { viewPath } from '../pages/views.ts';

const form = defineForm({
  fields: {
    type: 'object',
    properties: {
      language: { enum: languages },
      theme: { enum: themes },
      next: { type: 'string', maxLength: 2000 },
    },
  },
  async submit({ language, theme, next }, request) {
    if (language !== undefined) request.remember('language', language);
    if (language !== undefined && request.account !== undefined)
      await request.host.database.query('update account set language = ? where id = ?', [language, request.account.id]);
    if (theme !== undefined) request.remember('theme', theme);
    return new Redirect(ownPath(next));
  },
});

/** Language and theme, kept in cookies; the layout's footer has the same form. */
export const preferencesPage: Page = {
  path: '/preferences',
  role: 'public',
  layout: 'plain',
  title: 'preferences.title',
  template: viewPath('shell/preferences.eta'),
  show: ({ query }) => ({ next: ownPath(query['next']) }),
  forms: [form],
};
