import { defineSection, type SectionValues } from '#core/config/section.ts';
import { array, boolean, object, string } from '#core/platform/schema.ts';
import { parseSmtpUrl, type SmtpServer } from './smtp-url.ts';

const addressPattern = '^[^\\s@<>,;"]+@[^\\s@<>,;"]+$';

export const mailSection = defineSection({
  name: 'mail',
  schema: object(
    { default: {} },
    'Mail to customers: receipts, refunds, plan ends, sign-ins, new keys. Nothing is sent without `smtp`.',
    {
      smtp: string(
        { writeOnly: true },
        'Mail server: smtps://user:password@host:465, or smtp://…:587 with STARTTLS. Empty: no mail.',
      ),
      from: string({ pattern: addressPattern }, 'E-mail address of the sender. Its display name is the service name.'),
      reply_to: string(
        { pattern: addressPattern },
        'E-mail address for replies. Default: the address in `service.contact`, otherwise `from`.',
      ),
      dkim_selector: string(
        { pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' },
        "Selector of your mail server's DKIM key; `daypass doctor --mail` looks it up.",
      ),
      allow_without_tls: array(
        { items: string({ pattern: '^[^\\s@/]+$' }), default: [] },
        'Hosts of `smtp` to which mail may be sent without TLS, such as a relay in a container next to the gateway: `[mailpit]`. STARTTLS is used if they offer it, and their certificate is not verified. This machine (localhost) needs no entry.',
      ),
      plan_ending: boolean({ default: true }, 'Whether customers are reminded a day before their plan ends.'),
    },
  ),
  check({ smtp = '', from }, report) {
    if (smtp === '') return;
    const mistake = describeSmtpMistake(parseSmtpUrl(smtp));
    if (mistake !== undefined) report(['mail', 'smtp'], mistake.wrong, mistake.right);
    if (from === undefined) report(['mail', 'from'], 'is missing', 'set the e-mail address of the sender');
  },
});

interface SmtpMistake {
  readonly wrong: string;
  readonly right: string;
}

function describeSmtpMistake(server: SmtpServer | undefined): SmtpMistake | undefined {
  if (server === undefined)
    return { wrong: 'is not the URL of a mail server', right: 'use smtps://user:password@host:465' };
  if (server.usesImplicitTls && server.port === 587)
    return {
      wrong: 'is smtps:// with port 587, where servers expect STARTTLS, so no mail would be sent',
      right: 'use smtp://…:587, or smtps://…:465',
    };
  if (!server.usesImplicitTls && server.port === 465)
    return {
      wrong: 'is smtp:// with port 465, where servers expect TLS from the first byte, so no mail would be sent',
      right: 'use smtps://…:465, or smtp://…:587',
    };
  return undefined;
}

/** Returns the server that sends emails; undefined if this gateway sends none. */
export function findMailServer(section: SectionValues['get']): SmtpServer | undefined {
  const { smtp = '', allow_without_tls: plaintextHosts } = section(mailSection);
  const server = parseSmtpUrl(smtp);
  if (server === undefined) return undefined;
  const host = server.host.toLowerCase();
  return { ...server, allowsPlaintext: plaintextHosts.some((name) => name.toLowerCase() === host) };
}

/** If false, no page may promise an email. */
export function sendsMail(section: SectionValues['get']): boolean {
  return (section(mailSection).smtp ?? '') !== '';
}
