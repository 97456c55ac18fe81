import { createAccount } from '#core/business/accounts/accounts.ts';
import type { Section } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { defineForm, Redirect } from '#core/web/pages/page.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { register } from '../../../../plugins/dashboard/requests/index.ts';
import { dashboardSection, type RouteVisibility } from '../../../../plugins/dashboard/section.ts';
import { RecordBook } from '../../../core/gateway/records/record-fixture.ts';
import { Browser, pageAt, pageHost, servePages } from '../../../core/web/page-fixture.ts';
import { hostOf, modelOf } from '../../format/catalog/catalog-fixture.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';

const routes = ['openai/gpt-6-sol', 'other/gpt-6-sol'].map((id) => ({
  ...routeTo(upstreamAt('http://127.0.0.1:1')),
  id,
}));

const signInPage = pageAt('/sign-in', {
  forms: [
    defineForm({
      fields: { type: 'object', properties: { account: { type: 'string' } } },
      async submit({ account = '' }, request) {
        await request.signIn(account);
        return new Redirect('/');
      },
    }),
  ],
});

export interface RequestsHost {
  /** How customers see routes. */
  readonly routes?: RouteVisibility;
  readonly now?: () => number;
  /** E-mail addresses of operators. */
  readonly operators?: readonly string[];
  /** In place of parts of the host. */
  readonly parts?: Partial<Host>;
}

/** The pages of requests on a real database. */
export async function serveRequests(database: Database, settings: RequestsHost = {}) {
  const base = pageHost({ operators: settings.operators ?? [] });
  const host = pageHost({
    database,
    monotonic: () => performance.now(),
    catalog: hostOf([modelOf('gpt-6-sol', ['chat'], { routes })]).catalog,
    section: ((section: Section) =>
      section.name === dashboardSection.name
        ? { routes: settings.routes ?? 'names' }
        : base.section(section)) as Host['section'],
    ...(settings.now !== undefined && { now: settings.now }),
    ...settings.parts,
  });
  const server = await servePages(host, (hapi) => {
    hapi.gateway.texts(defineTexts({ en: { 'test.title': 'Sign in' }, id: { 'test.title': 'Masuk' } }));
    hapi.gateway.page(signInPage);
    register(hapi);
  });
  return { host, server, signIn: (email?: string) => signIn(new Browser(server), database, email) };
}

/** A browser with a new account, and the records of that account. */
async function signIn(browser: Browser, database: Database, email?: string) {
  const { accountId } = await createAccount(database, 'dp', { name: 'Ani', ...(email !== undefined && { email }) });
  await browser.send('/sign-in', { account: accountId });
  const book = new RecordBook(database);
  const write: RecordBook['write'] = (...records) =>
    book.write(...records.map((record) => ({ account_id: accountId, model: 'dp/gpt-6-sol', ...record })));
  return { browser, accountId, write };
}

/** The ids of a list, from top to bottom. */
export function idsIn(html: string): string[] {
  return [...html.matchAll(/data-row="([^"]+)"/g)].map(([, id = '']) => id);
}
