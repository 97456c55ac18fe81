import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { describeWords } from '#core/business/operator-actions/action-kind.ts';
import { formatTable, formatTime } from './table-text.ts';

/** What operators have done, for people; nothing without any. */
export function formatActions(actions: readonly RecordedAction[], timeZone: string): string[] {
  if (actions.length === 0) return [];
  return formatTable(
    ['time', 'action', 'by', 'outcome', 'note'],
    actions.map(({ createdAt, action, operator, outcome, error, note, details }) => [
      formatTime(createdAt, timeZone),
      action,
      operator,
      error ?? outcome,
      describeWords({ ...details, note }) ?? '',
    ]),
    { longest: 500 },
  );
}
