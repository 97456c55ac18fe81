import { issuerTitle } from '#core/business/payments/issuer-title.ts';
import { findAnnouncement, isOpen } from '#core/business/announcements/announcements.ts';
import { findOutage, listCredits } from '#core/business/outages/credit.ts';
import { findReservation } from '#core/business/sales/waiting-list.ts';
import { contactOf } from '#core/gateway/host/contact.ts';
import { type AccountRecord, activePeriod, readAccounts } from '#core/business/accounts/account-record.ts';
import { service as serviceSection } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type Formatter, formatterFor } from '#core/web/texts/formatter.ts';
import { wellKnownPaths } from '#core/web/pages/paths.ts';
import { type Language, languages, type Translate } from '#core/web/texts/texts.ts';
import { recordedLabelIn } from '#core/business/accounts/plans.ts';
import { formatCode } from '#core/business/accounts/vouchers.ts';
import { readGiftCode } from '#core/business/payments/gifts.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import type { HealthChecks } from '#core/gateway/health/health-check.ts';
import { composeAlert } from './alerts/alert.ts';
import { alertsSection } from './alerts/section.ts';
import { mailReason } from '#core/business/mail/mail-reason.ts';
import { type MailContent, oneLine } from './layout.ts';
import type { ClaimedAlert, ClaimedMail, MailedEvent } from '#core/business/mail/outbox.ts';
import { mailSection } from '#core/business/mail/section.ts';
import { mailTexts } from './texts.ts';
import { isSubscribed, unsubscribeUrl } from './unsubscribe/link.ts';
import { oneClickUrl } from './unsubscribe/one-click.ts';
import type { Account, PlanPeriodSchema, Session } from '#core/business/accounts/entities.ts';
import { epoch, type Row } from '#core/platform/database/rows.ts';

/** A mail and its recipient. */
export interface ComposedMail {
  readonly to: string;
  readonly content: MailContent;
  /** Where its reader unsubscribes; undefined for a mail that is sent in any case. */
  readonly unsubscribeUrl?: string;
}

/** Ms: a sign-in this soon after the account was made is its first. */
const firstSignIn = 60_000;
/** Ms: who has bought this recently knows when the plan ends. */
const recentPurchase = 3_600_000;

interface Context {
  readonly host: Host;
  readonly mail: ClaimedMail;
  readonly account: AccountRecord;
  readonly language: Language;
  readonly t: Translate;
  readonly format: Formatter;
}

type Body = Pick<MailContent, 'subject' | 'paragraphs' | 'facts' | 'action' | 'links'>;

/** Events whose mails are about neither an order nor a sign-in or key: their readers can unsubscribe. */
const newsEvents = new Set<MailedEvent>(['plan.ending', 'plan.ended', 'announcement.published', 'outage.credited']);

/**
 * The mail about an event, or the reason for sending none: the account has no address, or the event is no longer relevant.
 */
export async function composeMail(host: Host, mail: ClaimedMail): Promise<ComposedMail | string> {
  const [account] = await readAccounts(host.database, 'id', [mail.accountId]);
  const to = mail.event === 'account.email_changed' ? await formerEmail(host, mail.accountId) : account?.email;
  if (account === undefined || to === undefined) return mailReason('mail.reason.no_address');
  if (account.deletedAt !== undefined || account.blockedAt !== undefined) return mailReason('mail.reason.blocked');
  if (!/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(to)) return mailReason('mail.reason.invalid_address');
  const isNews = newsEvents.has(mail.event);
  if (isNews && !(await isSubscribed(host.database, mail.accountId))) return mailReason('mail.reason.unsubscribed');
  const language = await languageOf(host, 'id', mail.accountId);
  const t = mailTexts.in(language);
  const format = formatterFor(language, host.section(serviceSection).time_zone);
  const body = await bodies[mail.event]({ host, mail, account, language, t, format });
  if (typeof body === 'string') return body;
  const content = { ...frame(host, account, language, t), ...body };
  const links = [...(body.links ?? []), ...contactLinks(host)];
  if (!isNews) return { to, content: { ...content, links } };
  const url = await unsubscribeUrl(host, mail.accountId);
  return {
    to,
    content: {
      ...content,
      closing: [...content.closing, t('unsubscribe', { url })],
      links: [...links, { text: url, url }],
    },
    unsubscribeUrl: oneClickUrl(url),
  };
}

function contactLinks({ service }: Host): NonNullable<MailContent['links']> {
  const text = contactOf(service);
  return text === undefined || service.contact === undefined ? [] : [{ text, url: service.contact }];
}

/** The mail to the operator about an alert, or the reason for sending none. */
export async function composeAlertMail(
  host: Host,
  gateway: HealthChecks,
  claimed: ClaimedAlert,
): Promise<ComposedMail | string> {
  const to = host.section(alertsSection).mail ?? '';
  const language = await languageOf(host, 'email', to);
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

/** The language of an account; English for an address without an account. */
async function languageOf({ database }: Host, field: 'id' | 'email', value: string): Promise<Language> {
  const where = field === 'id' ? 'id = ?' : 'lower(email collate "C") = lower(?::text collate "C")';
  const [row] = await database.query<Row<typeof Account, 'language'>>(`select language from account where ${where}`, [
    value,
  ]);
  return languages.find((language) => language === row?.language) ?? 'en';
}

function frame(
  { service }: Host,
  account: AccountRecord,
  language: Language,
  t: Translate,
): Pick<MailContent, 'language' | 'service' | 'greeting' | 'closing'> {
  const contact = contactOf(service);
  return {
    language,
    service: service.name,
    greeting: t('greeting', { name: oneLine(account.name).slice(0, 80) }),
    closing: [t('closing', { service: service.name }), ...(contact === undefined ? [] : [t('contact', { contact })])],
  };
}

const bodies: Readonly<Record<MailedEvent, (context: Context) => Promise<Body | string>>> = {
  'order.paid': receipt,
  'payment.refunded': refunded,
  'plan.ending': planEnding,
  'plan.ended': planEnded,
  'session.created': signIn,
  'key.rotated': keyRotated,
  'account.email_changed': emailChanged,
  'announcement.published': announced,
  'place.reserved': placeReserved,
  'outage.credited': outageCredited,
};

async function receipt(context: Context): Promise<Body | string> {
  const { host, mail, t, format, language } = context;
  const order = await readOrder(host.database, { id: mail.payload['orderId'] ?? '' });
  const payment = order?.payments.find(({ outcome }) => outcome === 'activated');
  if (order === undefined || payment === undefined) return mailReason('mail.reason.no_payment');
  const labels = order.label === undefined ? [] : [recordedLabelIn(language, order.label, host)];
  const facts: [string, string][] = [
    [t('order'), order.code],
    [t('plan'), [t('days', { count: order.days }), ...labels].join(', ')],
    [t('amount'), format.money(payment.amount, payment.currency)],
    [t('paid_at'), format.time(payment.paidAt).text],
  ];
  if (payment.issuer !== undefined) facts.push([t('paid_by'), issuerTitle(oneLine(payment.issuer))]);
  if (order.period !== undefined) {
    facts.push([t('starts_at'), format.time(order.period.startsAt).text]);
    facts.push([t('ends_at'), format.time(order.period.endsAt).text]);
  }
  if (order.isGift) return giftReceipt(order, facts, context);
  const connect = `${host.service.baseUrl}${wellKnownPaths.connect}`;
  return {
    subject: t('receipt.subject', { code: order.code }),
    paragraphs: [
      t('receipt.text'),
      ...(order.isLate ? [t('receipt.late')] : []),
      t('receipt.connect', { url: connect }),
    ],
    links: [{ text: connect, url: connect }],
    facts,
    action: { label: t('receipt.link'), url: `${host.service.baseUrl}/orders/${order.code}/receipt` },
  };
}

/** With the code, as long as the gift can be redeemed. */
async function giftReceipt(
  order: Order,
  facts: readonly (readonly [string, string])[],
  { host, t, format }: Context,
): Promise<Body> {
  const code = await readGiftCode(host.database, order);
  const redeem = `${host.service.baseUrl}/redeem?code=${code}`;
  const gift: [string, string][] =
    code === undefined || order.gift === undefined
      ? []
      : [
          [t('gift.code'), formatCode(code)],
          [t('gift.link'), redeem],
          [t('gift.until'), format.time(order.gift.expiresAt).text],
        ];
  return {
    subject: t('receipt.subject', { code: order.code }),
    paragraphs: [
      t(code === undefined ? 'gift.text_without' : 'gift.text'),
      ...(order.isLate ? [t('receipt.late')] : []),
    ],
    facts: [...gift, ...facts],
    links: [{ text: redeem, url: redeem }],
    action: { label: t('gift.open'), url: `${host.service.baseUrl}/orders/${order.code}/done` },
  };
}

async function refunded({ host, mail, t, format }: Context): Promise<Body | string> {
  const order = await readOrder(host.database, { id: mail.payload['orderId'] ?? '' });
  const refund = order?.refunds.find(({ key }) => key === mail.payload['refund']);
  if (order === undefined || refund === undefined) return mailReason('mail.reason.no_refund');
  const payment = order.payments.find(({ id }) => id === refund.paymentId);
  const days = payment?.outcome === 'activated' ? refund.days : 'none';
  const amount = format.money(refund.amount, refund.currency);
  return {
    subject: t('refund.subject', { amount }),
    paragraphs: [
      t(refund.isManual ? 'refund.text_manual' : 'refund.text', { amount }),
      ...(days === 'none' ? [] : [t(order.isGift ? 'refund.gift' : `refund.days.${days}`)]),
    ],
    facts: [
      [t('order'), order.code],
      [t('refund.amount'), amount],
      [t('time'), format.time(refund.finishedAt ?? mail.createdAt).text],
    ],
    action: { label: t('refund.open'), url: `${host.service.baseUrl}/orders/${order.code}` },
  };
}

async function planEnding(context: Context): Promise<Body | string> {
  const { host, mail, account, t, format } = context;
  if (!host.section(mailSection).plan_ending) return mailReason('mail.reason.reminders_off');
  const end = account.periods.at(-1)?.endsAt;
  if (end === undefined || end.toISOString() !== mail.payload['endsAt']) return mailReason('mail.reason.other_end');
  if (end.getTime() <= account.readAt) return mailReason('mail.reason.plan_ended');
  if (await isRecent(context)) return mailReason('mail.reason.just_bought');
  const time = format.time(end).text;
  return {
    subject: t('ending.subject', { time }),
    paragraphs: [t('ending.text')],
    facts: [[t('ends_at'), time]],
    action: renewal(host, t),
  };
}

async function isRecent({ host, mail }: Context): Promise<boolean> {
  const [row] = await host.database.query<Row<typeof PlanPeriodSchema, 'created_at'>>(
    `select ${epoch('max(created_at)')} as created_at from plan_period where account_id = ?`,
    [mail.accountId],
  );
  return mail.createdAt.getTime() - (row?.created_at ?? 0) < recentPurchase;
}

async function planEnded({ host, mail, account, t, format }: Context): Promise<Body | string> {
  if (activePeriod(account, account.readAt) !== undefined) return mailReason('mail.reason.renewed');
  return {
    subject: t('ended.subject'),
    paragraphs: [t('ended.text')],
    facts: [[t('ends_at'), format.time(new Date(mail.payload['endsAt'] ?? 0)).text]],
    action: renewal(host, t),
  };
}

async function signIn({ host, mail, account, t, format }: Context): Promise<Body | string> {
  if (mail.createdAt.getTime() - account.createdAt.getTime() < firstSignIn)
    return mailReason('mail.reason.first_sign_in');
  const [session] = await host.database.query<Row<typeof Session, 'user_agent'>>(
    'select user_agent from session where id::text = ?',
    [mail.payload['sessionId'] ?? ''],
  );
  const browser = oneLine(session?.user_agent ?? '').slice(0, 200);
  return {
    subject: t('sign_in.subject', { service: host.service.name }),
    paragraphs: [t('sign_in.text')],
    facts: [
      [t('time'), format.time(mail.createdAt).text],
      [t('sign_in.browser'), browser === '' ? t('sign_in.unknown') : browser],
    ],
    action: home(host, t),
  };
}

async function keyRotated({ host, mail, t, format }: Context): Promise<Body> {
  return {
    subject: t('key.subject'),
    paragraphs: [t('key.text')],
    facts: [[t('time'), format.time(mail.createdAt).text]],
    action: home(host, t),
  };
}

/** Goes to the former address: whoever reads it may not have asked for the change. */
async function emailChanged({ host, mail, t, format }: Context): Promise<Body> {
  return {
    subject: t('email.subject', { service: host.service.name }),
    paragraphs: [t('email.text')],
    facts: [[t('time'), format.time(mail.createdAt).text]],
    action: home(host, t),
  };
}

async function announced({ host, mail, language, t, format }: Context): Promise<Body | string> {
  const announcement = await findAnnouncement(host.database, mail.payload['announcementId'] ?? '');
  if (announcement === undefined || !isOpen(announcement, host.now()))
    return mailReason('mail.reason.announcement_ended');
  const { kind, text, model, from, until, audience } = announcement;
  const time = (at: number) => format.time(new Date(at)).text;
  return {
    subject: t(`announcement.${kind}`, { service: host.service.name }),
    paragraphs: [text[language]],
    facts: [
      ...(model === undefined ? [] : [[t('announcement.model'), model] as [string, string]]),
      [t('announcement.from'), time(from)],
      [t('announcement.until'), time(until)],
    ],
    action:
      audience === 'all'
        ? { label: t('announcement.status'), url: `${host.service.baseUrl}${wellKnownPaths.status}` }
        : home(host, t),
  };
}

async function placeReserved({ host, mail, t, format }: Context): Promise<Body | string> {
  const reservation = await findReservation(host.database, mail.payload['entryId'] ?? '');
  if (reservation?.isOpen !== true) return mailReason('mail.reason.place_gone');
  const { days, until } = reservation;
  const time = format.time(until).text;
  return {
    subject: t('place.subject', { time }),
    paragraphs: [t('place.text', { service: host.service.name })],
    facts: [
      [t('place.plan'), t('days', { count: days })],
      [t('place.until'), time],
    ],
    action: { label: t('renew'), url: `${host.service.baseUrl}/buy?days=${days}` },
  };
}

async function outageCredited({ host, mail, account, t, format }: Context): Promise<Body | string> {
  const { model, from } = await findOutage(host.database, mail.payload['outageId'] ?? '');
  const credits = await listCredits(host.database, mail.accountId, 7);
  const credit = credits.find((one) => one.model === model && one.from.getTime() === from.getTime());
  if (credit === undefined) return mailReason('mail.reason.no_credit');
  const minutes = t('outage.minutes', { count: Math.max(1, Math.round(credit.seconds / 60)) });
  const end = account.periods.at(-1)?.endsAt;
  return {
    subject: t('outage.subject', { time: minutes }),
    paragraphs: [t('outage.text', { model, time: format.time(from).text })],
    facts: end === undefined ? [] : [[t('ends_at'), format.time(end).text]],
    action: home(host, t),
  };
}

async function formerEmail({ database }: Host, accountId: string): Promise<string | undefined> {
  const [row] = await database.query<Row<typeof Account, 'former_email'>>(
    'select former_email from account where id = ?',
    [accountId],
  );
  return row?.former_email ?? undefined;
}

function renewal({ service }: Host, t: Translate): MailContent['action'] {
  return { label: t('renew'), url: `${service.baseUrl}/buy` };
}

function home({ service }: Host, t: Translate): MailContent['action'] {
  return { label: t('open', { service: service.name }), url: `${service.baseUrl}/` };
}
