import { defineSection, type SectionValues } from '#core/config/section.ts';
import { parseSmtpUrl } from './smtp-url.ts';

/** `mail` in gateway.yaml. Without `smtp` nothing is sent. */
export const mailSection = defineSection({
  name: 'mail',
  schema: {
    type: 'object',
    description: 'Mail to customers: receipts, plan ends, sign-ins, new keys. Nothing is sent without `smtp`.',
    default: {},
    properties: {
      smtp: {
        type: 'string',
        writeOnly: true,
        description: 'Mail server: smtps://user:password@host:465, or smtp://…:587 with STARTTLS. Empty: no mail.',
      },
      from: {
        type: 'string',
        pattern: '^[^\\s@<>,;"]+@[^\\s@<>,;"]+$',
        description: 'E-mail address of the sender. Its display name is the service name.',
      },
      reply_to: {
        type: 'string',
        pattern: '^[^\\s@<>,;"]+@[^\\s@<>,;"]+$',
        description: 'E-mail address for replies. Default: `from`.',
      },
      plan_ending: {
        type: 'boolean',
        default: true,
        description: 'Whether customers are reminded a day before their plan ends.',
      },
    },
    additionalProperties: false,
  },
  check({ smtp = '', from }, report) {
    if (smtp === '') return;
    const server = parseSmtpUrl(smtp);
    if (server === undefined)
      report(['mail', 'smtp'], 'is not the URL of a mail server', 'use smtps://user:password@host:465');
    else if (server.isSecure && server.port === 587)
      report(
        ['mail', 'smtp'],
        'is smtps:// with port 587, where servers expect STARTTLS, so no mail would be sent',
        'use smtp://…:587, or smtps://…:465',
      );
    if (from === undefined) report(['mail', 'from'], 'is missing', 'set the e-mail address of the sender');
  },
});

/** False where nobody is mailed, so that no page promises a mail. */
export function sendsMail(section: SectionValues['get']): boolean {
  return (section(mailSection).smtp ?? '') !== '';
}
