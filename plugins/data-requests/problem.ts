import { type ProblemKind, type ProblemReader, readEmphasis } from '#core/web/problems/problem.ts';
import { countOpen, type DataRequest, findRequest, listRequests } from './requests.ts';
import { requestsPath } from './resource.ts';

const maxListed = 10;

const maxRemainingShares = { warn: 2 / 3, bad: 1 / 6 };

/** Also runs while the customers' page is off, because operators can record requests. */
export const openRequests: ProblemKind = {
  name: 'data_request',
  order: 90,
  precondition: 'EXISTS (SELECT FROM data_request WHERE answered_at IS NULL)',
  async find(reader) {
    const { host, t } = reader;
    const [openEntries, total] = await Promise.all([
      listRequests(host.database, 'open', maxListed),
      countOpen(host.database),
    ]);
    const problems = openEntries.map((request) => ({
      severity: determineSeverity(request, host.now()),
      title: t('data_requests.problem'),
      subject: request.id,
      pieces: readEmphasis(describeTime(request, reader)),
      since: request.receivedAt,
      step: {
        path: `${requestsPath}/${request.id}/answer`,
        text: t('data_requests.problem.step'),
        label: t('data_requests.problem.label', { kind: t(`data_requests.kind.${request.kind}`) }),
      },
    }));
    return Object.assign(problems, { total });
  },
  alert: {
    event: 'data_request.received',
    async compose({ requestId = '' }, reader) {
      const { host, t, format } = reader;
      const request = await findRequest(host.database, requestId);
      if (request === undefined || request.answeredAt !== undefined) return 'the request is answered';
      const { id, kind, dueAt } = request;
      return {
        title: t('data_requests.alert', { kind: t(`data_requests.kind.${kind}`) }),
        text: t('data_requests.alert.text'),
        facts: [[t('data_requests.due'), format.time(dueAt).text]],
        path: `${requestsPath}/${id}/answer`,
        data: { request: id, kind, answer_by: dueAt.toISOString() },
      };
    },
  },
};

export function determineSeverity(
  { receivedAt, dueAt }: Pick<DataRequest, 'receivedAt' | 'dueAt'>,
  now: number,
): 'info' | 'warn' | 'bad' {
  const remainingShare = (dueAt.getTime() - now) / (dueAt.getTime() - receivedAt.getTime());
  if (remainingShare <= maxRemainingShares.bad) return 'bad';
  return remainingShare <= maxRemainingShares.warn ? 'warn' : 'info';
}

function describeTime({ kind, dueAt }: DataRequest, { host, t, format }: ProblemReader): string {
  const remainingMs = dueAt.getTime() - host.now();
  const values = { kind: t(`data_requests.kind.${kind}`), due: format.time(dueAt).text };
  if (remainingMs <= 0) return t('data_requests.problem.late', values);
  return t('data_requests.problem.text', { ...values, left: format.remaining(remainingMs).text });
}
