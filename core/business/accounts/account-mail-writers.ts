import type { Host } from '#core/gateway/host/host.ts';
import type { MailContext, MailWriter } from '#core/gateway/mails/mail-kind.ts';
import { epoch, type Row } from '#core/platform/database/rows.ts';
import { toOneLine } from '#core/platform/one-line.ts';
import { defineSentences } from '#core/platform/sentences.ts';
import { findActivePeriod } from './account-record.ts';
import type { Account, PlanPeriodSchema, Session } from './entities.ts';
import { periodsInForceSql } from './periods-in-force.ts';
import { readRefundedEnd } from './plan-end.ts';
import en from './texts/en.json' with { type: 'json' };

const firstSignInMs = 60_000; // a sign-in this soon after the account was created is its first
const recentPurchaseMs = 3_600_000; // after a purchase this recent, the buyer still knows when the plan ends

const mailReason = defineSentences(en);

export const planEnding: MailWriter<'plan.ending'> = {
  async write(context) {
    const { payload, account, t, format, buttons } = context;
    const end = account.periods.at(-1)?.endsAt;
    if (end === undefined || end.toISOString() !== payload.endsAt) return mailReason('mail.reason.other_end');
    if (end.getTime() <= account.readAt) return mailReason('mail.reason.plan_ended');
    if (await wasRecentlyBought(context)) return mailReason('mail.reason.just_bought');
    if (await wasMovedAfterNotice(context, 24)) return mailReason('mail.reason.given_back');
    const time = format.time(end).text;
    return {
      subject: t('mail.ending.subject', { time }),
      paragraphs: [t('mail.ending.text')],
      facts: [[t('mail.plan_ends_at'), time]],
      action: buttons.renew,
    };
  },
};

async function wasRecentlyBought({ host, account, createdAt }: MailContext): Promise<boolean> {
  const [row] = await host.database.query<Row<typeof PlanPeriodSchema, 'created_at'>>(
    `select ${epoch('max(created_at)')} as created_at from plan_period where account_id = ?`,
    [account.id],
  );
  return createdAt.getTime() - (row?.created_at ?? 0) < recentPurchaseMs;
}

/**
 * True if compensation for an outage moved the end of the last period by less than a day, after the email about the old end was due
 * (`noticeHours` before it).
 */
async function wasMovedAfterNotice({ host, account }: MailContext, noticeHours: number): Promise<boolean> {
  const rows = await host.database.query(
    `select 1 from (select * from ${periodsInForceSql} p where account_id = ? order by ends_at desc limit 1) l, lateral (
       select coalesce((select ends_at from plan_period r where r.id = l.replaces), (
         select max(ends_at) from ${periodsInForceSql} p where p.account_id = l.account_id and p.ends_at <= l.starts_at)) as ends_at
     ) earlier
     where l.reason = 'outage' and l.created_at >= earlier.ends_at - make_interval(hours => ?)
       and l.ends_at - greatest(l.starts_at, earlier.ends_at) < interval '24 hours'`,
    [account.id, noticeHours],
  );
  return rows.length > 0;
}

export const planEnded: MailWriter<'plan.ended'> = {
  async write(context) {
    const { payload, account, t, format, buttons } = context;
    if (findActivePeriod(account, account.readAt) !== undefined) return mailReason('mail.reason.renewed');
    if (await wasMovedAfterNotice(context, 0)) return mailReason('mail.reason.given_back');
    const refundedPass = await readRefundedEnd(context.host.database, account.id);
    // The email about the refund already says that the plan has ended.
    if (refundedPass === 'order') return mailReason('mail.reason.refunded');
    const isGift = refundedPass === 'gift';
    return {
      subject: t(isGift ? 'mail.ended.gift_subject' : 'mail.ended.subject'),
      paragraphs: [t(isGift ? 'mail.ended.gift_text' : 'mail.ended.text')],
      facts: [[t('mail.plan_ends_at'), format.time(new Date(payload.endsAt)).text]],
      action: isGift ? buttons.home : buttons.renew,
    };
  },
};

export const sessionCreated: MailWriter<'session.created'> = {
  async write({ host, payload, createdAt, account, t, format, buttons }) {
    if (createdAt.getTime() - account.createdAt.getTime() < firstSignInMs)
      return mailReason('mail.reason.first_sign_in');
    const [session] = await host.database.query<Row<typeof Session, 'user_agent'>>(
      'select user_agent from session where id::text = ?',
      [payload.sessionId],
    );
    const browser = toOneLine(session?.user_agent ?? '').slice(0, 200);
    return {
      subject: t('mail.sign_in.subject', { service: host.service.name }),
      paragraphs: [t('mail.sign_in.text')],
      facts: [
        [t('mail.account_time'), format.time(createdAt).text],
        [t('mail.sign_in.browser'), browser === '' ? t('mail.sign_in.unknown') : browser],
      ],
      action: buttons.home,
    };
  },
};

export const keyRotated: MailWriter<'key.rotated'> = {
  async write({ createdAt, t, format, buttons }) {
    return {
      subject: t('mail.key.subject'),
      paragraphs: [t('mail.key.text')],
      facts: [[t('mail.account_time'), format.time(createdAt).text]],
      action: buttons.home,
    };
  },
};

/** Sent to the old address, in case the account's owner did not request the change. */
export const emailChanged: MailWriter<'account.email_changed'> = {
  async recipient({ database }: Host, accountId) {
    const [row] = await database.query<Row<typeof Account, 'former_email'>>(
      'select former_email from account where id = ?',
      [accountId],
    );
    return row?.former_email ?? undefined;
  },
  async write({ host, createdAt, t, format, buttons }) {
    return {
      subject: t('mail.email.subject', { service: host.service.name }),
      paragraphs: [t('mail.email.text')],
      facts: [[t('mail.account_time'), format.time(createdAt).text]],
      action: buttons.home,
    };
  },
};
