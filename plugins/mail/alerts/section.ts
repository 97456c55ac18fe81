import { defineSection } from '#core/config/section.ts';
import { isLoopback } from '#core/platform/names/loopback.ts';
import { mailSection } from '#core/business/mail/section.ts';

/** Characters of a secret: what an HMAC with SHA-256 can use. */
const shortestSecret = 24;

/** `alerts` in gateway.yaml: how the operator hears of what needs a decision. */
export const alertsSection = defineSection({
  name: 'alerts',
  schema: {
    type: 'object',
    description: 'Where the operator is alerted: at once when money needs a decision, and to all else once a day.',
    default: {},
    properties: {
      mail: {
        type: 'string',
        pattern: '^([^\\s@<>,;"]+@[^\\s@<>,;"]+)?$',
        description: 'E-mail address of the operator. Needs `mail.smtp`.',
      },
      webhook: {
        type: 'object',
        description: 'A URL that gets each alert as JSON, signed as Standard Webhooks describes.',
        properties: {
          url: { type: 'string', pattern: '^https?://\\S+$', description: 'HTTPS, except on this machine.' },
          secret: {
            type: 'string',
            writeOnly: true,
            minLength: shortestSecret,
            description: 'Key of the signature, at least 24 characters; whsec_… is decoded from base64.',
          },
        },
        required: ['url', 'secret'],
        additionalProperties: false,
      },
      digest_hour: {
        type: 'integer',
        minimum: 0,
        maximum: 23,
        default: 7,
        description: 'Hour in `service.time_zone` from which the daily report is sent.',
      },
    },
    additionalProperties: false,
  },
  check({ mail = '', webhook }, report, all) {
    if (mail !== '' && (all.get(mailSection).smtp ?? '') === '')
      report(['alerts', 'mail'], 'needs a mail server', 'set mail: { smtp, from }, or remove it');
    const url = webhook === undefined ? undefined : URL.parse(webhook.url);
    if (url === null) report(['alerts', 'webhook', 'url'], 'is not a valid URL', 'use https://… with a host');
    else if (url?.protocol === 'http:' && !isLoopback(url.hostname))
      report(['alerts', 'webhook', 'url'], 'is not HTTPS', 'use https://…, because alerts name orders and amounts');
  },
});
