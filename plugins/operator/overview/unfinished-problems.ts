import { listUnfinishedActions, maxActionMs } from '#core/business/operator-actions/operator-actions.ts';
import type { ProblemKind } from '#core/web/problems/problem.ts';
import { nameAccounts, readSubjects, tellDone } from '#core/web/resources/tell-action.ts';

/** Maximum actions listed, and ms for which each is listed, so that the next operator sees those of a weekend. */
const listed = 5;
const shownFor = 3 * 86_400_000;
/** Days searched, including one day for clock differences. */
const looked = shownFor / 86_400_000 + 1;

/** Actions with an unknown outcome, because their process ended meanwhile. */
export const unfinishedActions: ProblemKind = {
  name: 'action_unfinished',
  order: 90,
  precondition: `EXISTS (SELECT FROM operator_action WHERE finished_at IS NULL AND created_at > now() - interval '${looked} days')`,
  async find(reader) {
    const { host, t } = reader;
    const span = { since: host.now() - shownFor, until: host.now() - maxActionMs };
    const actions = await listUnfinishedActions(host.database, span, listed);
    if (actions.length === 0) return [];
    const subjects = await readSubjects(reader, actions, await nameAccounts(reader, actions));
    return actions.map(({ action, operator, subject, createdAt }) => {
      const about = subjects.get(subject);
      const did = tellDone(action, t);
      return {
        severity: 'warn',
        title: t('operator.done.unknown'),
        pieces: [
          ...(about === undefined
            ? []
            : [
                { ...about, isPersonal: true },
                { text: ', ', isPersonal: true },
              ]),
          { text: did, isStrong: true },
          { text: ` (${operator})`, isPersonal: true },
          { text: `: ${t('operator.need_unfinished_text')}` },
        ],
        since: createdAt,
        step: {
          path: about?.path ?? '/operator/health',
          text: t('operator.need_unfinished_step'),
          label: t('operator.need_unfinished_label', { action: did }),
        },
      };
    });
  },
};
