import { listUnfinishedActions, maxActionMs } from '#core/business/operator-actions/operator-actions.ts';
import type { ProblemKind } from '#core/web/problems/problem.ts';
import { readSubjectNames, readSubjectCells, describeDone } from '#core/web/resources/describe-action.ts';

const maxActions = 5;
const maxAgeDays = 3; // covers a weekend
const searchedDays = maxAgeDays + 1; // one day more, because clocks differ

/** The outcome of these actions is unknown, because their process ended before they did. */
export const unfinishedActions: ProblemKind = {
  name: 'action_unfinished',
  order: 90,
  precondition: `EXISTS (SELECT FROM operator_action WHERE finished_at IS NULL AND created_at > now() - interval '${searchedDays} days')`,
  async find(reader) {
    const { host, t } = reader;
    const range = { since: host.now() - maxAgeDays * 86_400_000, until: host.now() - maxActionMs };
    const actions = await listUnfinishedActions(host.database, range, maxActions);
    if (actions.length === 0) return [];
    const subjects = await readSubjectCells(reader, actions, await readSubjectNames(reader, actions));
    return actions.map(({ action, operator, subject, createdAt }) => {
      const subjectLink = subjects.get(subject);
      const actionText = describeDone(action, t);
      return {
        severity: 'warn',
        title: t('operator.done.unknown'),
        pieces: [
          ...(subjectLink === undefined
            ? []
            : [
                { ...subjectLink, isPersonal: true },
                { text: ', ', isPersonal: true },
              ]),
          { text: actionText, isStrong: true },
          { text: ` (${operator})`, isPersonal: true },
          { text: `: ${t('operator.need_unfinished_text')}` },
        ],
        since: createdAt,
        step: {
          path: subjectLink?.path ?? '/operator/health',
          text: t('operator.need_unfinished_step'),
          label: t('operator.need_unfinished_label', { action: actionText }),
        },
      };
    });
  },
};
