import { account, ActionRefused, defineAction, describeRecipient, lines, object, type SubjectKind } from 'daypass';
import { addReport, closeReport, findReport } from './reports.ts';

const reportSubject: SubjectKind = {
  name: 'report',
  async find({ database }, handle) {
    const report = await findReport(database, handle);
    if (report === undefined) throw new ActionRefused(`Report ${handle} not found.`, 'not_found');
    return { id: report.id, label: report.text, recordedAt: 'reports' };
  },
};

export const addAction = defineAction({
  name: 'report.add',
  subject: { name: 'reports' },
  summary: 'record a report about an account',
  input: object(['account', 'text'], { account: account('The account.'), text: lines('What was reported.', 500) }),
  unrecorded: ['text'],
  tells: { account: describeRecipient },
  perform: async (host, _id, { account: accountId, text }) => ({ report: await addReport(host, accountId, text) }),
});

export const closeAction = defineAction({
  name: 'report.close',
  subject: reportSubject,
  summary: 'close a report, and mail the answer to the account',
  input: object(['answer'], { answer: lines('What the owner of the account reads.', 500) }),
  unrecorded: ['answer'],
  async perform(host, id, { answer }) {
    if (!(await closeReport(host, id, answer))) throw new ActionRefused('The report is closed.');
  },
});
