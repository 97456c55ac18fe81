import { epoch } from '#core/platform/database/rows.ts';
import { type Host, sharedReading } from '#core/gateway/host/host.ts';
import { type ProblemKind, readEmphasis } from '#core/web/problems/problem.ts';

/** Answers by another model within a day from which a route is reported; a few may be mistakes of the vendor. */
const minAnswers = 10;
/** Latest answers that are maxCounted. */
const maxCounted = 1_000;
const maxRoutes = 20;

interface OtherModel {
  readonly route: string;
  readonly model: string;
  readonly answers: number;
  readonly since: number; // epoch ms
}

/** Routes whose vendor keeps answering with another model than requested. */
export const otherModels: ProblemKind = {
  name: 'other_model',
  order: 15,
  async find({ host, t, format }) {
    const found = await otherModelReading(host).get();
    return found.map(({ route, model, answers, since }) => ({
      severity: 'warn',
      title: t('upstream.other_model'),
      subject: route,
      pieces: readEmphasis(t('upstream.other_model.text', { route, model, answers: format.number(answers) })),
      since: new Date(since),
      step: { path: '/operator/routes', label: t('upstream.other_model.label', { route }) },
    }));
  },
};

const maxAge = 60_000; // ms
const deadline = 10_000; // ms

/** Cached, because pages refresh every few seconds. */
const otherModelReading = sharedReading({ maxAge, staleFor: maxAge, deadline }, findOtherModels);

/** The time is a parameter, so that PostgreSQL plans only over the partitions of the last day. */
async function findOtherModels({ database, now }: Pick<Host, 'database' | 'now'>): Promise<OtherModel[]> {
  return database.query<OtherModel>(
    `SELECT route, answered_model AS model, count(*)::int AS answers, ${epoch('min(started_at)')} AS since
     FROM (
       SELECT route, answered_model, started_at FROM request_log
       WHERE is_other_model AND started_at > ?
       ORDER BY started_at DESC LIMIT ?
     ) AS latest
     GROUP BY route, answered_model HAVING count(*) >= ? ORDER BY since LIMIT ?`,
    [new Date(now() - 86_400_000), maxCounted, minAnswers, maxRoutes],
  );
}
