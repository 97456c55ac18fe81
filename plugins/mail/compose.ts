import { type AccountRecord, readAccounts } from '#core/business/accounts/account-record.ts';
import type { Account } from '#core/business/accounts/entities.ts';
import { alertsSection } from '#core/business/mail/alerts-section.ts';
import type { ClaimedAlert, ClaimedMail, MessageSources } from '#core/business/mail/outbox.ts';
import { mailSection } from '#core/business/mail/section.ts';
import { service as serviceSection } from '#core/config/sections/core-sections.ts';
import type { HealthChecks } from '#core/gateway/health/health-check.ts';
import { formatContact } from '#core/gateway/host/contact.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { MailContext, MailDraft, MailKind } from '#core/gateway/mails/mail-kind.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { toOneLine } from '#core/platform/one-line.ts';
import { wellKnownPaths } from '#core/web/pages/paths.ts';
import { createProblemReader } from '#core/web/problems/find-problems.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { type Language, languages, type Texts, type Translate } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import { type AlertSource, composeAlert } from './alerts/alert.ts';
import type { MailContent } from './layout.ts';
import { mailReason } from './mail-reason.ts';
import { mailTexts } from './texts.ts';
import { buildUnsubscribeUrl, isSubscribed } from './unsubscribe/link.ts';
import { buildOneClickUrl } from './unsubscribe/one-click.ts';

export interface ComposedMail {
  readonly to: string;
  readonly content: MailContent;
  readonly unsubscribeUrl?: string; // for one click (RFC 8058)
}

export type MailSources = HealthChecks & AlertSource & MessageSources;

/** Returns the reason if no mail is sent, for example because the account has no address or the event is out of date. */
export async function composeMail(
  host: Host,
  { mailKinds, pageTexts = [] }: MessageSources & Pick<AlertSource, 'pageTexts'>,
  mail: ClaimedMail,
): Promise<ComposedMail | string> {
  const kind = mailKinds?.get(mail.event);
  if (kind === undefined) return mailReason('mail.reason.no_kind');
  const writer = 'load' in kind ? await kind.load() : kind;
  const [account] = await readAccounts(host.database, 'id', [mail.accountId]);
  const to = writer.recipient === undefined ? account?.email : await writer.recipient(host, mail.accountId);
  if (account === undefined || to === undefined) return mailReason('mail.reason.no_address');
  if (account.deletedAt !== undefined || account.blockedAt !== undefined) return mailReason('mail.reason.blocked');
  if (!/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(to)) return mailReason('mail.reason.invalid_address');
  const skipReason = await findSkipReason(host, kind, mail);
  if (skipReason !== undefined) return skipReason;
  const language = await readLanguage(host, 'id', mail.accountId);
  const draft = await writer.write(createContext(host, kind.texts ?? pageTexts, { ...mail, account, language }));
  return typeof draft === 'string' ? draft : finishDraft(host, draft, { to, account, language, kind });
}

function isOptional({ delivery }: MailKind): boolean {
  return delivery === 'optional' || delivery === 'reminder';
}

async function findSkipReason(
  { database, section }: Host,
  kind: MailKind,
  mail: ClaimedMail,
): Promise<string | undefined> {
  if (isOptional(kind) && !(await isSubscribed(database, mail.accountId)))
    return mailReason('mail.reason.unsubscribed');
  const isOff = kind.delivery === 'reminder' && !section(mailSection).plan_ending;
  return isOff ? mailReason('mail.reason.reminders_off') : undefined;
}

interface Reader {
  readonly account: AccountRecord;
  readonly language: Language;
}

function createContext(host: Host, texts: Texts | readonly Texts[], mail: ClaimedMail & Reader): MailContext {
  const { payload, createdAt, account, language } = mail;
  const { name, baseUrl } = host.service;
  const t = mailTexts.in(language);
  const translateTo = (reader: Language) =>
    'en' in texts ? new Translator([texts]).in(reader) : createProblemReader(texts, host, reader).t;
  return {
    host,
    // The payload has the type of its event, because the same plugin recorded it.
    payload: payload as unknown as MailContext['payload'],
    createdAt,
    account,
    language,
    t: translateTo(language),
    reason: translateTo('en'),
    format: getFormatter(language, host.section(serviceSection).time_zone),
    buttons: {
      home: { label: t('open', { service: name }), url: `${baseUrl}/` },
      renew: { label: t('renew'), url: `${baseUrl}/buy` },
    },
    pages: {
      connect: `${baseUrl}${wellKnownPaths.connect}`,
      key: `${baseUrl}${wellKnownPaths.key}`,
      status: `${baseUrl}${wellKnownPaths.status}`,
    },
  };
}

async function finishDraft(
  host: Host,
  draft: MailDraft,
  { to, account, language, kind }: Reader & { readonly to: string; readonly kind: MailKind },
): Promise<ComposedMail> {
  const t = mailTexts.in(language);
  // A draft without facts has an empty table.
  const content = { facts: [], ...composeFrame(host, { account, language, kind }, t), ...draft };
  const links = [...(draft.links ?? []), ...describeContactLinks(host)];
  if (!isOptional(kind)) return { to, content: { ...content, links } };
  const url = await buildUnsubscribeUrl(host, account.id);
  return {
    to,
    content: {
      ...content,
      closing: [...content.closing, t('unsubscribe', { url })],
      links: [...links, { text: url, url }],
    },
    unsubscribeUrl: buildOneClickUrl(url),
  };
}

function describeContactLinks({ service }: Host): NonNullable<MailContent['links']> {
  const text = formatContact(service);
  return text === undefined || service.contact === undefined ? [] : [{ text, url: service.contact }];
}

/** Returns the reason if no mail is sent. */
export async function composeAlertMail(
  host: Host,
  gateway: HealthChecks & AlertSource,
  claimed: ClaimedAlert,
): Promise<ComposedMail | string> {
  const to = host.section(alertsSection).mail ?? '';
  const language = await readLanguage(host, 'email', to);
  const alert = await composeAlert(host, gateway, claimed, language);
  if (typeof alert === 'string') return alert;
  const t = mailTexts.in(language);
  const { title, text, facts, path } = alert;
  const content = {
    language,
    service: host.service.name,
    subject: title,
    greeting: title,
    paragraphs: [text],
    facts,
    action: { label: t('alert.open'), url: `${host.service.baseUrl}${path}` },
    closing: [t('alert.closing', { service: host.service.name })],
  };
  return { to, content };
}

async function readLanguage({ database }: Host, field: 'id' | 'email', value: string): Promise<Language> {
  // The same expression as in the index `account_email_ascii`.
  const where = field === 'id' ? 'id = ?' : 'lower(email collate "C") = lower(?::text collate "C")';
  const [row] = await database.query<Row<typeof Account, 'language'>>(`select language from account where ${where}`, [
    value,
  ]);
  return languages.find((language) => language === row?.language) ?? 'en';
}

function composeFrame(
  { service }: Host,
  { account, language, kind }: Reader & { readonly kind: MailKind },
  t: Translate,
): Pick<MailContent, 'language' | 'service' | 'greeting' | 'closing'> {
  const contact = formatContact(service);
  return {
    language,
    service: service.name,
    greeting: t('greeting', { name: toOneLine(account.name).slice(0, 80) }),
    closing: [
      // The closing says that the mail is about the reader's account, which an optional mail is not.
      ...(isOptional(kind) ? [] : [t('closing', { service: service.name })]),
      ...(contact === undefined ? [] : [t('contact', { contact })]),
    ],
  };
}
