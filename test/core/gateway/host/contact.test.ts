import { expect, it } from 'vitest';
import { findContactAddress, buildContactLink, formatContact } from '#core/gateway/host/contact.ts';

it.each([
  ['mailto:help@example.com', 'help@example.com', 'help@example.com', 'mailto:help@example.com?subject=Order%20A%261'],
  ['https://wa.me/628111002233', 'WhatsApp +628111002233', undefined, 'https://wa.me/628111002233?text=Order%20A%261'],
  [
    'https://api.whatsapp.com/send?phone=628111002233',
    'WhatsApp +628111002233',
    undefined,
    'https://api.whatsapp.com/send?phone=628111002233&text=Order%20A%261',
  ],
  ['https://wa.me/62812?text=Halo', 'WhatsApp +62812', undefined, 'https://wa.me/62812?text=Halo'],
  ['https://wa.me/qr/ABC', 'https://wa.me/qr/ABC', undefined, 'https://wa.me/qr/ABC'],
  ['https://help.example.com/ask', 'https://help.example.com/ask', undefined, 'https://help.example.com/ask'],
  [undefined, undefined, undefined, ''],
])('the contact %s has words, an address for replies and a link about an order', (contact, text, address, link) => {
  const service = { contact };
  expect([formatContact(service), findContactAddress(service), buildContactLink(service, 'Order A&1')]).toEqual([
    text,
    address,
    link,
  ]);
});
