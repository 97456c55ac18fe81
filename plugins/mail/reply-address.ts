import { mailSection } from '#core/business/mail/section.ts';
import { findContactAddress } from '#core/gateway/host/contact.ts';
import type { Host } from '#core/gateway/host/host.ts';

export function getReplyAddress({ section, service }: Pick<Host, 'section' | 'service'>): string | undefined {
  return section(mailSection).reply_to ?? findContactAddress(service);
}
