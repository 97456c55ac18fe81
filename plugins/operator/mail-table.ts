import { type CustomerMail, moneyEvents } from '#core/business/mail/mails.ts';
import type { TableSection } from '#core/web/pages/table.ts';
import { type FieldReader, fieldTable, type ShownField } from '#core/web/resources/field.ts';
import { mails } from '#core/web/resources/mails.ts';

/** Mails to customers with their delivery state. @param isMixed true if they belong to several accounts, which are named */
export function mailTable(entries: readonly CustomerMail[], reader: FieldReader, isMixed = false): TableSection {
  const next: ShownField<CustomerMail> = {
    name: 'next_step',
    type: 'link',
    at: isMixed ? 'hide' : 'note-end',
    value: (mail) =>
      canRepeat(mail)
        ? {
            text: reader.t('operator.act.mail.send_again'),
            path: `/operator/mails/${mail.id}/send-again`,
            isButton: true,
          }
        : undefined,
  };
  const fields = mails.view.page.filter(({ name }) => isMixed || name !== 'receiver');
  return fieldTable(reader, 'mails', 'operator.mails', entries, [...fields, next]);
}

/** True if sending again makes sense; of the delivered mails only those that a customer may ask for. */
function canRepeat({ state, event }: CustomerMail): boolean {
  if (state === 'sent') return moneyEvents.some((one) => one === event);
  return state === 'failed' || state === 'uncertain' || state === 'skipped';
}
