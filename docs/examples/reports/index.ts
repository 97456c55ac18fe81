/**
 * A plugin with an operator page that has a table and a form, two actions, a mail, an alert, a command and a list of the operator's API.
 *
 *     plugins: [./docs/examples/reports/index.ts]
 */
import { type GatewayPlugin, type MailKind, type ProblemKind, readEmphasis } from 'daypass';
import { addAction, closeAction } from './actions.ts';
import { closePage, path, reports, reportsPage } from './pages.ts';
import { findReport, listReports, Report } from './reports.ts';

const openReports: ProblemKind = {
  name: 'report',
  order: 95,
  precondition: 'EXISTS (SELECT FROM reports WHERE closed_at IS NULL)',
  async find({ host, t }) {
    const open = await listReports(host.database, 'open', 10);
    return open.map(({ id, text, createdAt }) => ({
      severity: 'warn',
      title: t('reports.problem'),
      subject: id,
      pieces: [...readEmphasis(t('reports.problem_text')), { text: ` ${text}`, isPersonal: true }],
      since: createdAt,
      step: { path: `${path}/${id}/close`, text: t('operator.act.report.close') },
    }));
  },
  alert: { event: 'report.waiting', isWatched: true },
};

const closedMail: MailKind<'report.closed'> = {
  event: 'report.closed',
  delivery: 'usual',
  async write({ host, payload, reason, t, buttons }) {
    const report = await findReport(host.database, payload.reportId);
    if (typeof report?.answer !== 'string') return reason('mail.reason.report_gone');
    return { subject: t('mail.report.subject'), paragraphs: [report.answer], action: buttons.home };
  },
};

/** Reports about accounts: operators record and answer them. */
export const plugin: GatewayPlugin = {
  name: 'reports',
  register({ gateway }) {
    gateway.tables({ name: 'reports', entities: [Report], migrations: new URL('./migrations/', import.meta.url) });
    gateway.mail(closedMail);
    gateway.problem(openReports);
    for (const page of [reportsPage, closePage]) gateway.page(page);
    gateway.resource(reports, { actions: [addAction, closeAction] });
  },
};
