import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import type { PageRequest } from '../pages/page.ts';
import { type ColumnOf, describeTable, type TableCell, type TableSection } from '../pages/table.ts';
import { tellAction, tellDone } from './tell-action.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'>;

const outcomeKinds = { done: 'ok', failed: 'bad', unknown: 'waiting' } as const;

/** What operators have done. @param names of accounts, by id @param subjects what it was about, where that is not what the page is about */
export function actionTable(
  actions: readonly RecordedAction[],
  reader: Reader,
  names?: ReadonlyMap<string, string>,
  subjects?: ReadonlyMap<string, TableCell>,
): TableSection {
  const { t } = reader;
  const about: ColumnOf<RecordedAction> = {
    label: 'operator.about',
    fit: 'brief',
    at: 'note-end',
    cell: ({ subject }) => subjects?.get(subject),
  };
  return describeTable(reader, 'actions', 'operator.actions', actions, [
    { label: 'operator.time', at: 'note', cell: ({ createdAt }) => createdAt },
    { label: 'operator.action', at: 'title', cell: ({ action }) => tellDone(action, t) },
    ...(subjects === undefined ? [] : [about]),
    {
      label: 'operator.by',
      fit: 'brief',
      at: subjects === undefined ? 'note-end' : 'hide',
      isSpare: subjects !== undefined,
      cell: ({ operator }) => operator,
    },
    { label: 'operator.note', fit: 'text', at: 'below', cell: (action) => tellAction(action, reader, names) },
    {
      label: 'operator.outcome',
      at: 'end',
      cell: ({ outcome }) => ({ text: t(`operator.done.${outcome}`), kind: outcomeKinds[outcome] }),
    },
  ]);
}
