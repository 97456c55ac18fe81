import type { Service } from './host.ts';

type WithContact = Pick<Service, 'contact'>;

/** Returns the operator's contact as an email address, a WhatsApp number or a URL; undefined if gateway.yaml has none. */
export function formatContact({ contact }: WithContact): string | undefined {
  const number = parseWhatsAppNumber(contact);
  return number === undefined ? contact?.replace(/^mailto:/, '') : `WhatsApp +${number}`;
}

/** Returns the operator's email address; undefined if the contact is not an email address. */
export function findContactAddress({ contact }: WithContact): string | undefined {
  return /^mailto:([^\s@<>,;"?]+@[^\s@<>,;"?]+)/.exec(contact ?? '')?.[1];
}

/**
 * Returns the link for contacting the operator; '' if gateway.yaml has no contact. For WhatsApp and email, the link contains a subject.
 *
 * @param about subject of the question, such as an order code
 */
export function buildContactLink({ contact = '' }: WithContact, about: string): string {
  let parameter: 'text' | 'subject' | undefined;
  if (parseWhatsAppNumber(contact) !== undefined) parameter = 'text';
  else if (contact.startsWith('mailto:')) parameter = 'subject';
  if (parameter === undefined || new RegExp(`[?&]${parameter}=`).test(contact)) return contact;
  return `${contact}${contact.includes('?') ? '&' : '?'}${parameter}=${encodeURIComponent(about)}`;
}

/** Reads the phone number from a WhatsApp link. Source: WhatsApp, "How to use click to chat". */
export function parseWhatsAppNumber(contact = ''): string | undefined {
  const url = URL.parse(contact);
  if (url?.host === 'wa.me') return /^\/(\d+)$/.exec(url.pathname)?.[1];
  if (url?.host === 'api.whatsapp.com') return /^\d+$/.exec(url.searchParams.get('phone') ?? '')?.[0];
  return undefined;
}
