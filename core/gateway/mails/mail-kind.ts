import type { Text, TextValues } from '#core/platform/sentences.ts';
import type { EventName } from '../events/event-handler.ts';
import type { EventTypes } from '../events/events.ts';
import type { Host } from '../host/host.ts';

/**
 * Defines how an event becomes a mail to a customer: the account in the payload's `accountId`. Registered where the event is recorded. It
 * must be light, because every command loads it; the writer is loaded when a mail is due.
 */
export interface MailKind {
  readonly event: EventName;
  /**
   * `urgent`: sent before all others, of which there may be thousands. `optional`: not about an order, a sign-in or a key, so that readers
   * can unsubscribe. `reminder`: optional, and not sent if reminders are disabled in gateway.yaml.
   */
  readonly delivery: 'urgent' | 'usual' | 'optional' | 'reminder';
  /** Texts of these mails, and reasons why a mail was not sent (`mail.reason.…`), which pages translate. */
  readonly texts: MailTexts;
  load(): Promise<MailWriter>;
}

/** Keys are unique in the gateway and start with `mail.`. */
export interface MailTexts {
  readonly en: Readonly<Record<string, Text>>;
  readonly id: Readonly<Record<string, Text>>;
}

export interface MailWriter<Name extends EventName = EventName> {
  /** Recipient address; default: the account's. */
  recipient?(host: Host, accountId: string): Promise<string | undefined>;
  /**
   * @returns the English reason if no mail is sent because the event is no longer relevant
   * @throws any error if the mail failed
   */
  write(context: MailContext<Name>): Promise<MailDraft | string>;
}

/** Input for writing a mail. */
export interface MailContext<Name extends EventName = EventName> {
  readonly host: Host;
  readonly payload: EventTypes[Name];
  /** When the event was recorded. */
  readonly createdAt: Date;
  readonly account: MailedAccount;
  readonly language: keyof MailTexts;
  /** Returns texts of the kind in that language. */
  readonly t: (key: string, values?: TextValues) => string;
  /** Formats in that language, and in the service's time zone. */
  readonly format: {
    money(amount: number, currency: string): string;
    time(value: Date): { readonly text: string };
  };
  readonly buttons: Readonly<Record<'home' | 'renew', MailButton>>;
  /** URLs of pages. */
  readonly pages: Readonly<Record<'connect' | 'key' | 'status', string>>;
}

/** The customer's account. It has an address, and is neither blocked nor deleted. */
export interface MailedAccount {
  readonly id: string;
  readonly createdAt: Date;
  /** Paid periods that have not ended, earliest first; if all have, the last one. */
  readonly periods: readonly { readonly startsAt: Date; readonly endsAt: Date }[];
  /** Time of reading by the database's clock, epoch ms. */
  readonly readAt: number;
}

/** Content of a mail as plain text. Greeting, closing and layout are added to all mails. */
export interface MailDraft {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly facts?: readonly (readonly [label: string, value: string])[];
  readonly action: MailButton;
  /** Parts of paragraphs and facts that become links in HTML. */
  readonly links?: readonly MailLink[];
}

export interface MailButton {
  readonly label: string;
  readonly url: string;
}

export interface MailLink {
  readonly text: string;
  readonly url: string;
}
