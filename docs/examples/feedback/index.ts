import { join } from 'node:path';
import { accountOf, defineForm, defineTexts, type GatewayPlugin, Redirect } from 'daypass';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

const form = defineForm({
  fields: {
    type: 'object',
    properties: { message: { type: 'string', minLength: 10, maxLength: 2000 } },
    required: ['message'],
  },
  once: true,
  submit({ message }, request) {
    const { id: account } = accountOf(request);
    request.host.log.info(`feedback from ${account}: ${JSON.stringify(message)}`);
    return new Redirect('/feedback?sent=1');
  },
});

/** A page with a form for signed-in accounts. Messages go to the log. */
export const plugin: GatewayPlugin = {
  name: 'feedback',
  register(server) {
    server.gateway.texts(defineTexts({ en, id }));
    server.gateway.assets({ name: 'feedback.css', path: join(import.meta.dirname, 'feedback.css') });
    server.gateway.page({
      path: '/feedback',
      role: 'account',
      title: 'feedback.title',
      navigation: { label: 'feedback.title', icon: 'info', after: '/dashboard/connect' },
      styles: ['feedback.css'],
      template: join(import.meta.dirname, 'feedback.eta'),
      show: (request) => ({
        greeting: request.t('feedback.greeting', { name: accountOf(request).name }),
        isSent: 'sent' in request.query,
      }),
      forms: [form],
    });
  },
};
