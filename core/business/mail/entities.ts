import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';
import { impersonal } from '#core/platform/database/personal.ts';

/** Who gets a message, and by which transport: `customer` and `operator` by email, `webhook` for operators. */
export const channels = ['customer', 'operator', 'webhook'] as const;

/** `sent`: the mail server accepted it. `uncertain`: it may have accepted it. `skipped`: the event no longer matters. */
export const mailStates = ['waiting', 'sending', 'sent', 'skipped', 'failed', 'uncertain'] as const;

/** A message about one event on one channel. The recipient's address is not stored; it is read when the message is sent. */
export const MailMessage = defineEntity({
  name: 'MailMessage',
  tableName: 'mail_message',
  properties: {
    /** The event's id in `account_event`. */
    eventId: p.bigint('string').primary().autoincrement(false),
    channel: p.enum(channels).primary().default('customer'),
    /** Null if the message is for operators. */
    account: () => p.manyToOne(Account).nullable().deleteRule('cascade'),
    state: p.enum(mailStates).default('waiting'),
    tries: p.integer().default(0),
    /** Number of tries after which it is unknown whether the server accepted the message. */
    uncertainTries: p.integer().default(0),
    /** When to try next. While the message is being sent: when its sender is presumed dead. */
    nextAt: p.datetime().defaultRaw('clock_timestamp()'),
    error: impersonal(p.text().nullable()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    finishedAt: p.datetime().nullable(),
    /** When an operator last requested a resend, which restarts the tries. */
    askedAt: p.datetime().nullable(),
  },
  indexes: [
    { name: 'mail_message_account', properties: ['account', 'createdAt'] },
    { name: 'mail_message_due', properties: 'nextAt', where: `state in ('waiting', 'sending')` },
    { name: 'mail_message_undelivered', properties: 'finishedAt', where: `state in ('failed', 'uncertain')` },
  ],
});
