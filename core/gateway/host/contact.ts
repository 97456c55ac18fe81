import type { Service } from './host.ts';

type WithContact = Pick<Service, 'contact'>;

/**
 * The contact of the operator, as people read it: an e-mail address, a number of WhatsApp, or a URL; undefined where gateway.yaml has
 * none.
 */
export function contactOf({ contact }: WithContact): string | undefined {
  const number = whatsAppNumber(contact);
  return number === undefined ? contact?.replace(/^mailto:/, '') : `WhatsApp +${number}`;
}

/** The e-mail address of the operator; undefined where the contact is another one. */
export function contactAddress({ contact }: WithContact): string | undefined {
  return /^mailto:([^\s@<>,;"?]+@[^\s@<>,;"?]+)/.exec(contact ?? '')?.[1];
}

/**
 * Where a question about something is asked: in WhatsApp and by mail, its name is filled in.
 *
 * @param about code of an order
 * @returns '' where gateway.yaml has no contact
 */
export function contactLink({ contact = '' }: WithContact, about: string): string {
  const parameter =
    whatsAppNumber(contact) !== undefined ? 'text' : contact.startsWith('mailto:') ? 'subject' : undefined;
  if (parameter === undefined || new RegExp(`[?&]${parameter}=`).test(contact)) return contact;
  return `${contact}${contact.includes('?') ? '&' : '?'}${parameter}=${encodeURIComponent(about)}`;
}

/** Digits of a link to WhatsApp. Source: WhatsApp, "How to use click to chat". */
export function whatsAppNumber(contact = ''): string | undefined {
  const url = URL.parse(contact);
  if (url?.host === 'wa.me') return /^\/(\d+)$/.exec(url.pathname)?.[1];
  if (url?.host === 'api.whatsapp.com') return /^\d+$/.exec(url.searchParams.get('phone') ?? '')?.[0];
  return undefined;
}
