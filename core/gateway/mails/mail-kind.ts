import type { Text, TextValues } from '#core/platform/sentences.ts';
import type { EventName } from '../events/event-handler.ts';
import type { EventTypes } from '../events/events.ts';
import type { Host } from '../host/host.ts';

/**
 * Turns an event into an email to the account in the payload's `accountId`. The plugin that records the event registers it. Every command
 * loads the kind; a writer that needs its own modules is loaded with `load` when an email is due.
 */
export type MailKind<Name extends EventName = EventName> = MailDelivery<Name> &
  (MailWriter<Name> | { load(): Promise<MailWriter<Name>> });

interface MailDelivery<Name extends EventName> {
  readonly event: Name;
  /**
   * `urgent`: sent before other emails, of which there may be thousands. `optional`: not about an order, a sign-in or a key, so recipients
   * can unsubscribe. `reminder`: optional, and not sent if reminders are disabled in gateway.yaml.
   */
  readonly delivery: 'urgent' | 'usual' | 'optional' | 'reminder';
  /**
   * Texts of the emails, and reasons for not sending one (`mail.reason.…`), which pages translate. Default: the texts of all plugins, so
   * the plugin's `texts` must contain them.
   */
  readonly texts?: MailTexts;
}

/** Keys are unique in the gateway and start with `mail.`. */
export interface MailTexts {
  readonly en: Readonly<Record<string, Text>>;
  readonly id: Readonly<Record<string, Text>>;
}

/** Writes emails of one kind. */
export interface MailWriter<Name extends EventName = EventName> {
  /** Finds the email address to send to; default: the account's address. */
  recipient?(host: Host, accountId: string): Promise<string | undefined>;
  /**
   * Writes the email, or returns the English reason for not sending it because the event is no longer relevant. If it throws, the email
   * fails.
   */
  write(context: MailContext<Name>): Promise<MailDraft | string>;
}

/** Input for writing an email. */
export interface MailContext<Name extends EventName = EventName> {
  readonly host: Host;
  readonly payload: EventTypes[Name];
  /** When the event was recorded. */
  readonly createdAt: Date;
  readonly account: MailedAccount;
  readonly language: keyof MailTexts;
  /** Returns a text of this kind of email in the recipient's language. */
  readonly t: (key: string, values?: TextValues) => string;
  /** Returns the English text of a reason for not sending the email. */
  readonly reason: (key: string, values?: TextValues) => string;
  /** Formats values in the recipient's language, and times in the service's time zone. */
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
  /** Paid periods that have not ended, earliest first; the last period if all have ended. */
  readonly periods: readonly { readonly startsAt: Date; readonly endsAt: Date }[];
  /** When the account was read, by the database's clock, in epoch ms. */
  readonly readAt: number;
}

/** Content of an email as plain text. Every email gets a greeting, a closing and the layout. */
export interface MailDraft {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly facts?: readonly (readonly [label: string, value: string])[];
  readonly action: MailButton;
  /** Parts of paragraphs and facts that become links in HTML. */
  readonly links?: readonly MailLink[];
}

/** A link that is shown as a button. */
export interface MailButton {
  readonly label: string;
  readonly url: string;
}

/** Text that links to a URL. */
export interface MailLink {
  readonly text: string;
  readonly url: string;
}
