import { randomUUID } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { asciiDomainOf } from '#core/business/mail/ascii-address.ts';
import { mailSection, findMailServer } from '#core/business/mail/section.ts';
import type { SectionValue } from '#core/config/section.ts';
import type { DiagnosisHost } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { getReplyAddress } from './reply-address.ts';
import { smtpTimeouts } from './smtp-session.ts';
import { sendMail } from './smtp.ts';

/** Sends the mail in the same way as mails to customers. */
export async function sendTestMail(host: DiagnosisHost, to: string, signal: AbortSignal): Promise<Finding> {
  const { service, section } = host;
  const server = findMailServer(section);
  const { from } = section(mailSection);
  if (server === undefined || from === undefined)
    return failed('mail.smtp is not set', 'Set `mail: { smtp, from }` in gateway.yaml.');
  const subject = `${service.name}: test mail`;
  const text = `This is a test of the mail server of ${service.name}. No action is needed.`;
  const messageId = `${service.slug}-test-${randomUUID()}@${asciiDomainOf(from)}`;
  const html = `<!doctype html><p>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`;
  const replyTo = getReplyAddress(host);
  const mail = { from: { name: service.name, address: from }, replyTo, to, subject, text, html, messageId };
  const outcome = await sendMail(server, mail, smtpTimeouts, signal);
  if (outcome.kind === 'sent')
    return ok(`accepted for ${to}, with replies to ${replyTo ?? from}: check that it reaches the inbox`);
  if (outcome.kind === 'uncertain')
    return warning(outcome.error, 'The connection broke after the mail was transferred: check whether it arrives.');
  return failed(outcome.error, 'Fix what the smtp check reports, or the address; the server accepted no mail.');
}

/** Returns no records if the name does not exist. Rejects if the DNS does not respond. */
type TxtReader = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export async function checkSender(
  subject: 'SPF' | 'DMARC' | 'DKIM',
  { from, dkim_selector: selector }: Pick<SectionValue<typeof mailSection>, 'from' | 'dkim_selector'>,
  signal: AbortSignal,
  reader: TxtReader = readTxtRecords,
): Promise<Finding> {
  if (from === undefined) return skipped('mail.from is not set');
  const domain = asciiDomainOf(from);
  const readTxt = (name: string) => {
    signal.throwIfAborted();
    return reader(name, signal);
  };
  try {
    if (subject === 'SPF') return checkSpf(domain, await readTxt(domain));
    if (subject === 'DMARC') return await checkDmarc(domain, readTxt);
    if (selector === undefined)
      return skipped('mail.dkim_selector is not set: it is `s=` in the DKIM-Signature header of the received mail');
    const name = `${selector}._domainkey.${domain}`;
    return checkDkim(name, await readTxt(name));
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return warning(
      `the DNS does not respond for ${domain} (${code})`,
      'Check the name servers of this machine and of the domain.',
    );
  }
}

function checkSpf(domain: string, records: readonly string[]): Finding {
  // RFC 7208
  const [spf, ...extras] = records.filter((record) => /^v=spf1(?: |$)/i.test(record));
  if (spf === undefined)
    return warning(
      `${domain} has no SPF record`,
      'Add the TXT record that your mail provider names, such as "v=spf1 include:… -all": large providers reject mail without it.',
    );
  if (extras.length > 0)
    return failed(`${domain} has ${extras.length + 1} SPF records, so none counts`, 'Merge them into one TXT record.');
  if (/\s\+?all$/i.test(spf))
    return failed(`${domain} lets any server send for it: ${shorten(spf)}`, 'End the record with -all or ~all.');
  return ok(`${domain}: ${shorten(spf)}`);
}

/** RFC 7489. If a domain has no record, its parent domain's applies. */
async function checkDmarc(domain: string, readTxt: (name: string) => Promise<readonly string[]>): Promise<Finding> {
  const labels = domain.split('.');
  for (let first = 0; first < Math.max(1, labels.length - 1); first++) {
    const name = labels.slice(first).join('.');
    const dmarc = (await readTxt(`_dmarc.${name}`)).find((record) => /^v=DMARC1\s*;/i.test(record));
    if (dmarc !== undefined) return describeDmarc(name, dmarc);
  }
  return warning(
    `${domain} has no DMARC record`,
    `Add a TXT record at _dmarc.${domain}, such as "v=DMARC1; p=none; rua=mailto:you@${domain}": large providers require one.`,
  );
}

function describeDmarc(name: string, record: string): Finding {
  const [, policy] = /;\s*p=\s*(none|quarantine|reject)\b/i.exec(record) ?? [];
  if (policy === undefined)
    return failed(`the DMARC record of ${name} has no policy`, 'Write p=none, p=quarantine or p=reject into it.');
  return ok(`${name}: ${shorten(record)}`);
}

function checkDkim(name: string, records: readonly string[]): Finding {
  // RFC 6376
  const key = records.find((record) => /(?:^|;)\s*p=/i.test(record));
  if (key === undefined)
    return failed(
      `${name} has no key`,
      'Add the TXT or CNAME record that your mail provider names, or correct mail.dkim_selector.',
    );
  if (/(?:^|;)\s*p=\s*(?:;|$)/i.test(key))
    return failed(
      `the key of ${name} is revoked`,
      'Configure your mail server to sign with another key, and set mail.dkim_selector to its selector.',
    );
  return ok(`${name} has a key`);
}

const shorten = (record: string) => (record.length > 120 ? `${record.slice(0, 119)}…` : record);

async function readTxtRecords(name: string, signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOTFOUND' || code === 'ENODATA') return [];
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
