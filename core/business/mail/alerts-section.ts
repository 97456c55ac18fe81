import { defineSection } from '#core/config/section.ts';
import { isLoopback } from '#core/platform/names/loopback.ts';
import { integer, object, string } from '#core/platform/schema.ts';
import { isOpenShop } from '../payments/section.ts';
import { mailSection } from './section.ts';

const minSecretLength = 24;

export const alertsSection = defineSection({
  name: 'alerts',
  schema: object(
    { default: {} },
    'Where the operator is alerted: immediately about payments that need a decision, once a day about everything else.',
    {
      mail: string(
        { pattern: '^([^\\s@<>,;"]+@[^\\s@<>,;"]+)?$' },
        'E-mail address of the operator. Needs `mail.smtp`.',
      ),
      webhook: object(['url', 'secret'], 'A URL that receives each alert as JSON, signed per Standard Webhooks.', {
        url: string({ pattern: '^https?://\\S+$' }, 'HTTPS, except on this machine.'),
        secret: string(
          { writeOnly: true, minLength: minSecretLength },
          'Signing key, at least 24 characters; whsec_… is decoded from base64.',
        ),
      }),
      digest_hour: integer(
        { minimum: 0, maximum: 23, default: 7 },
        'Hour in `service.time_zone` from which the daily report is sent.',
      ),
    },
  ),
  check({ mail = '', webhook }, report, all) {
    if (mail !== '' && (all.get(mailSection).smtp ?? '') === '')
      report(['alerts', 'mail'], 'needs a mail server', 'set mail: { smtp, from }, or remove it');
    const url = webhook === undefined ? undefined : URL.parse(webhook.url);
    if (url === null) report(['alerts', 'webhook', 'url'], 'is not a valid URL', 'use https://… with a host');
    else if (url?.protocol === 'http:' && !isLoopback(url.hostname))
      report(['alerts', 'webhook', 'url'], 'is not HTTPS', 'use https://…, because alerts name orders and amounts');
  },
  notices({ mail = '', webhook }, all) {
    const hasInvalidSecret = /^whsec_(?![A-Za-z0-9+/]*={0,2}$)/.test(webhook?.secret ?? '');
    const lacksReceiver = mail === '' && webhook === undefined && isOpenShop(all.get);
    return [...(hasInvalidSecret ? [invalidSecretNotice] : []), ...(lacksReceiver ? [noReceiverNotice] : [])];
  },
});

const invalidSecretNotice =
  'alerts.webhook.secret begins with whsec_ and is not base64: receivers may derive a different key and reject signatures';
const noReceiverNotice =
  'nobody is alerted when money needs a decision or a model fails: set alerts: { mail: you@example.com }, or a webhook';
