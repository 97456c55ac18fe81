import { boolean, object } from '#core/platform/schema.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { defineForm, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { isSubscribed, verifyToken, setSubscribed, unsubscribePath } from './link.ts';

const form = defineForm({
  fields: object({ subscribe: boolean() }),
  async submit({ subscribe = false }, request) {
    await setSubscribed(request.host.database, await requireTokenAccount(request), subscribe);
    return new Redirect(request.path);
  },
});

export const unsubscribePage: Page = {
  path: `${unsubscribePath}/{token}`,
  role: 'public',
  layout: 'plain',
  title: 'mail.unsubscribe.title',
  template: 'mail/unsubscribe.eta',
  async show(request) {
    const { database, service } = request.host;
    return { service: service.name, isSubscribed: await isSubscribed(database, await requireTokenAccount(request)) };
  },
  forms: [form],
};

async function requireTokenAccount({ host, params }: PageRequest): Promise<string> {
  const accountId = await verifyToken(host.database, params['token'] ?? '');
  if (accountId === undefined) throw new PageError(404, 'mail.unsubscribe.unknown');
  return accountId;
}
