import { listMails, resendMail } from '#core/business/mail/mails.ts';
import { sendsMail } from '#core/business/mail/section.ts';
import { ActionRefused, defineAction, note, type SubjectKind } from '#core/business/operator-actions/action-kind.ts';
import { describeChoice } from '#core/business/operator-actions/member-describers.ts';
import type { ActionCommandWords } from '#core/extension/commands/action-command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { object } from '#core/platform/schema.ts';

export async function findMail({ database }: Pick<Host, 'database'>, id: string) {
  return (/^\d{1,18}$/.test(id) ? await listMails(database, { id }, 1) : [])[0];
}

const mailSubject: SubjectKind = {
  name: 'mail',
  async find(host, handle) {
    const found = await findMail(host, handle);
    if (found === undefined) throw new ActionRefused(`Mail ${handle} not found.`, 'not_found');
    return { id: found.id, recordedAt: found.orderId ?? found.accountId, detail: { mailed: found.event } };
  },
  tells: { mailed: describeChoice('operator.mail') },
};

export const sendAgainAction = defineAction({
  name: 'mail.send_again',
  subject: mailSubject,
  summary: 'send a mail to its customer again within 20 seconds, with the same Message-ID',
  input: object({ note }),
  async perform({ database, section }, id) {
    if (!sendsMail(section)) throw new ActionRefused('Mail is off. Set mail: { smtp, from } in gateway.yaml.');
    if (!(await resendMail(database, id))) throw new ActionRefused('The mail is being sent at this moment.');
  },
});

export const sendAgainWords: ActionCommandWords = {
  handle: 'id of the mail (daypass mail list)',
  examples: ['daypass mail send-again 4711 --note "mailbox was full"'],
  done: (id) => `mail ${id} is sent again`,
};
