import { object } from '#core/platform/schema.ts';
import { sendsMail } from '../mail/section.ts';
import { ActionRefused, defineAction, note } from './action-kind.ts';
import { mailSubject } from './subjects.ts';

/** Actions on mails to customers. Each loads its implementation when performed: MikroORM would slow all commands down. */
export const mailActions = [
  defineAction({
    name: 'mail.send_again',
    subject: mailSubject,
    summary: 'send a mail to its customer again, with the same Message-ID, at the next run within 20 seconds',
    input: object({ note }),
    async perform({ database, section }, id) {
      if (!sendsMail(section)) throw new ActionRefused('Mail is off. Set mail: { smtp, from } in gateway.yaml.');
      const { repeatMail } = await import('../mail/mails.ts');
      if (!(await repeatMail(database, id))) throw new ActionRefused('The mail is being sent at this moment.');
    },
  }),
] as const;
