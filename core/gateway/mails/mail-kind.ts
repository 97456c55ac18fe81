import type { EventName } from '../events/event-handler.ts';
import type { EventTypes } from '../events/events.ts';
import type { Host } from '../host/host.ts';
import type { Text, TextValues } from '#core/platform/sentences.ts';

/**
 * How an event becomes a mail to a customer: the account that its payload names as `accountId`. It is registered where the event is
 * recorded. Every command loads it, so it is light: the writer is loaded when a mail is due.
 */
export interface MailKind {
  readonly event: EventName;
  /**
   * `urgent`: before all others, which may be thousands at once. `optional`: about neither an order nor a sign-in or key, so that its
   * readers can unsubscribe. `reminder`: optional, and not sent where gateway.yaml turns reminders off.
   */
  readonly delivery: 'urgent' | 'usual' | 'optional' | 'reminder';
  /** Texts of mails of this kind, and the reasons why one was not sent (`mail.reason.…`), which pages recognise. */
  readonly texts: MailTexts;
  load(): Promise<MailWriter>;
}

/** Keys are unique in the gateway and begin with `mail.`. */
export interface MailTexts {
  readonly en: Readonly<Record<string, Text>>;
  readonly id: Readonly<Record<string, Text>>;
}

export interface MailWriter<Name extends EventName = EventName> {
  /** Its address; default: that of the account. */
  recipient?(host: Host, accountId: string): Promise<string | undefined>;
  /** @returns the English reason for sending none, where the event is no longer relevant. An exception: the mail has failed */
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
  /** Reads the texts of the kind in that language. */
  readonly t: (key: string, values?: TextValues) => string;
  /** In that language, and in the time zone of the service. */
  readonly format: {
    money(amount: number, currency: string): string;
    time(value: Date): { readonly text: string };
  };
  readonly buttons: Readonly<Record<'home' | 'renew', MailButton>>;
  /** URLs of pages. */
  readonly pages: Readonly<Record<'connect' | 'key' | 'status', string>>;
}

/** The customer. It has an address, and is neither blocked nor deleted. */
export interface MailedAccount {
  readonly id: string;
  readonly createdAt: Date;
  /** Its paid time that has not ended, the earliest first; when all has ended, the last. */
  readonly periods: readonly { readonly startsAt: Date; readonly endsAt: Date }[];
  /** The database's clock when this was read, epoch ms. */
  readonly readAt: number;
}

/** Content of a mail as plain text. Greeting, closing and layout are those of all mails. */
export interface MailDraft {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly facts?: readonly (readonly [label: string, value: string])[];
  readonly action: MailButton;
  /** Parts of paragraphs and facts that are links in HTML. */
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
