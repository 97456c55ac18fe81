import { type CustomerMail, countUndelivered, hasUndeliveredCondition, listMails } from '#core/business/mail/mails.ts';
import { translateChoice } from '#core/business/operator-actions/member-describers.ts';
import { type Problem, type ProblemKind, type ProblemReader, readEmphasis } from '#core/web/problems/problem.ts';

const maxListed = 5;

/** Mails about money are listed one by one, all others as one entry. */
export const undeliveredMails: ProblemKind = {
  name: 'mail',
  order: 110,
  runbook: 'mail-failing',
  precondition: hasUndeliveredCondition,
  async find(reader) {
    const { host, t } = reader;
    const { money, others } = await countUndelivered(host.database);
    if (money + others === 0) return [];
    const mails = await listMails(host.database, { isUndelivered: true, isAboutMoney: true }, maxListed);
    const remainingCount = money + others - mails.length;
    const remainder: Problem = {
      severity: 'warn',
      title: t('operator.need_mails'),
      pieces: readEmphasis(t('operator.need_mails_text', { count: remainingCount })),
      step: { path: '/operator/mails', text: t('operator.need_look'), label: t('operator.mails_undelivered') },
    };
    return [...mails.map((mail) => describeMail(mail, reader)), ...(remainingCount > 0 ? [remainder] : [])];
  },
};

function describeMail(mail: CustomerMail, { t }: ProblemReader): Problem {
  const { id, event, state, order = '', error, finishedAt } = mail;
  const name = translateChoice('operator.mail', event, t);
  return {
    severity: state === 'failed' ? 'bad' : 'warn',
    title: t(`operator.mail_state.${state}`),
    subject: order,
    pieces: [
      { text: `${t('operator.order')} ` },
      { text: order, path: `/operator/orders/${order}` },
      { text: ', ' },
      { text: name, isStrong: true },
      // The error is marked as personal, because a mail server may repeat the address.
      ...(error === undefined ? [] : [{ text: `: ${t(error)}`, isEnglish: t(error) === error, isPersonal: true }]),
    ],
    since: finishedAt,
    step: {
      path: `/operator/mails/${id}/send-again`,
      text: t('operator.act.mail.send_again'),
      label: t('operator.need_mail_label', { mail: name, order }),
    },
  };
}
