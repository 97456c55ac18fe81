import { describeDetails, text } from '#core/business/operator-actions/action-kind.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import type { TableCell, TableSection } from '../pages/table.ts';
import { object } from '#core/platform/schema.ts';
import { defineView, type FieldReader, fieldTable } from './field.ts';
import { afterEntry, defineResource, readPage } from './resource.ts';
import { tellAction, tellDone } from './tell-action.ts';

const outcomeKinds = { done: 'ok', failed: 'bad', unknown: 'waiting' } as const;

/** Table of operators' actions. */
const recordedActions = defineView<RecordedAction>()(
  {
    time: { type: 'time', at: 'note', of: 'createdAt' },
    action: { type: 'id', at: 'title', of: 'action', cell: ({ action }, { t }) => tellDone(action, t) },
    about: { type: 'id', fit: 'brief', at: 'note-end', of: 'subject' },
    by: { type: 'text', fit: 'brief', at: 'note-end', of: 'operator' },
    note: {
      type: 'text',
      fit: 'text',
      at: 'below',
      value: ({ details, note }) => describeDetails({ ...details, note }),
      cell: (action, reader) => tellAction(action, reader, reader.names),
    },
    outcome: {
      type: 'state',
      at: 'end',
      value: ({ error, outcome }) => error ?? outcome,
      cell: ({ outcome }, { t }) => ({ text: t(`operator.done.${outcome}`), kind: outcomeKinds[outcome] }),
    },
  },
  ['time', 'action', 'by', 'outcome', 'note'],
);

/** Record of all operator actions. */
export const actions = defineResource({
  name: 'action',
  summary: 'list what operators have done, the newest first',
  query: object({
    subject: text('Only about this one: the id of an account, order or flag, a route, or configuration.'),
    after: afterEntry('action'),
  }),
  view: recordedActions,
  async list({ database }, query, { limit }) {
    const { listActions } = await import('#core/business/operator-actions/operator-actions.ts');
    return readPage(limit, (most) => listActions(database, { ...query, limit: most }));
  },
});

/** Actions on one subject, or on those of a page that names them elsewhere. */
export const actionsOfOne = {
  page: recordedActions.page.filter(({ name }) => name !== 'about'),
  text: recordedActions.text,
};

/** @param subjects subject cells by id; undefined if the page is about the subject */
export function actionTable(
  done: readonly RecordedAction[],
  reader: FieldReader,
  subjects?: ReadonlyMap<string, TableCell>,
): TableSection {
  if (subjects === undefined) return fieldTable(reader, 'actions', 'operator.actions', done, actionsOfOne.page);
  const fields = recordedActions.page.map((field) => {
    if (field.name === 'about') return { ...field, cell: ({ subject }: RecordedAction) => subjects.get(subject) };
    return field.name === 'by' ? { ...field, at: 'hide' as const, isSpare: true } : field;
  });
  return fieldTable(reader, 'actions', 'operator.actions', done, fields);
}
