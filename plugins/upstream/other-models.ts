import { type Host, cacheReading } from '#core/gateway/host/host.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { type ProblemKind, readEmphasis } from '#core/web/problems/problem.ts';

const minReplies = 10; // by a different model within a day; a smaller number may be the vendor's mistake
const maxCountedReplies = 1_000;
const maxRoutes = 20;
const maxAgeMs = 60_000;
const timeoutMs = 10_000;

interface OtherModelRow {
  readonly route: string;
  readonly model: string;
  readonly answers: number;
  readonly since: number; // epoch ms
}

/** Finds routes whose vendor often replies with a model other than the requested one. */
export const otherModelProblem: ProblemKind = {
  name: 'other_model',
  order: 15,
  async find({ host, t, format }) {
    const rows = await cachedOtherModels(host).get();
    return rows.map(({ route, model, answers, since }) => ({
      severity: 'warn',
      title: t('upstream.other_model'),
      subject: route,
      pieces: readEmphasis(t('upstream.other_model.text', { route, model, answers: format.number(answers) })),
      since: new Date(since),
      step: { path: '/operator/routes', label: t('upstream.other_model.label', { route }) },
    }));
  },
};

/** Cached, because pages refresh every few seconds. */
const cachedOtherModels = cacheReading({ maxAgeMs, staleWhileReadMs: maxAgeMs, timeoutMs }, findOtherModels);

/** The time is a parameter, so that PostgreSQL plans only for the partitions of the last day. */
async function findOtherModels({ database, now }: Pick<Host, 'database' | 'now'>): Promise<OtherModelRow[]> {
  return database.query<OtherModelRow>(
    `SELECT route, answered_model AS model, count(*)::int AS answers, ${epoch('min(started_at)')} AS since
     FROM (
       SELECT route, answered_model, started_at FROM request_log
       WHERE is_other_model AND started_at > ?
       ORDER BY started_at DESC LIMIT ?
     ) AS latest
     GROUP BY route, answered_model HAVING count(*) >= ? ORDER BY since LIMIT ?`,
    [new Date(now() - 86_400_000), maxCountedReplies, minReplies, maxRoutes],
  );
}
