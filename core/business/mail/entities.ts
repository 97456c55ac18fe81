import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '#core/business/accounts/entities.ts';
import { impersonal } from '#core/platform/database/personal.ts';

/** Kinds of recipients, with their transport. */
export const channels = ['customer', 'operator', 'webhook'] as const;

/** States of a message. `sent`: accepted by the mail server. `uncertain`: perhaps accepted. `skipped`: its event is no longer relevant. */
export const mailStates = ['waiting', 'sending', 'sent', 'skipped', 'failed', 'uncertain'] as const;

/** One message for one event on one channel. The recipient's address is not stored, but read when the message is sent. */
export const MailMessage = defineEntity({
  name: 'MailMessage',
  tableName: 'mail_message',
  properties: {
    /** Id of the event in `account_event`. */
    eventId: p.bigint('string').primary().autoincrement(false),
    channel: p.enum(channels).primary().default('customer'),
    /** Null for a message to the operator. */
    account: () => p.manyToOne(Account).nullable().deleteRule('cascade'),
    state: p.enum(mailStates).default('waiting'),
    tries: p.integer().default(0),
    /** Attempts after which it is unknown whether the server accepted the message. */
    uncertainTries: p.integer().default(0),
    /** Time of the next attempt; while it is being sent, the time after which its sender is presumed dead. */
    nextAt: p.datetime().defaultRaw('clock_timestamp()'),
    error: impersonal(p.text().nullable()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    finishedAt: p.datetime().nullable(),
    /** Time of an operator's resend, which restarts its attempts. */
    askedAt: p.datetime().nullable(),
  },
  indexes: [
    { name: 'mail_message_account', properties: ['account', 'createdAt'] },
    { name: 'mail_message_due', properties: 'nextAt', where: `state in ('waiting', 'sending')` },
    { name: 'mail_message_undelivered', properties: 'finishedAt', where: `state in ('failed', 'uncertain')` },
  ],
});
