import { describeDetails, text } from '#core/business/operator-actions/action-kind.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { object } from '#core/platform/schema.ts';
import type { TableCell, TableSection } from '../pages/table.ts';
import { describeAction, describeDone } from './describe-action.ts';
import { defineView, type FieldReader, fieldTable } from './field.ts';
import { createAfterSchema, defineResource, readPage } from './resource.ts';

const outcomeKinds = { done: 'ok', failed: 'bad', unknown: 'waiting' } as const;

const actionsView = defineView<RecordedAction>()(
  {
    time: { type: 'time', at: 'note', of: 'createdAt' },
    action: { type: 'id', at: 'title', of: 'action', cell: ({ action }, { t }) => describeDone(action, t) },
    about: { type: 'id', fit: 'brief', at: 'note-end', of: 'subject' },
    by: { type: 'text', fit: 'brief', at: 'note-end', of: 'operator' },
    note: {
      type: 'text',
      fit: 'text',
      at: 'below',
      value: ({ details, note }) => describeDetails({ ...details, note }),
      cell: (action, reader) => describeAction(action, reader, reader.names),
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

export const actions = defineResource({
  name: 'action',
  summary: 'list what operators have done, newest first',
  query: object({
    subject: text('Only actions on this: the id of an account, order or flag, a route, or configuration.'),
    after: createAfterSchema('action'),
  }),
  view: actionsView,
  async list({ database }, query, { limit }) {
    const { listActions } = await import('#core/business/operator-actions/operator-actions.ts');
    return readPage(limit, (max) => listActions(database, { ...query, limit: max }));
  },
});

/** Fields about actions, for a page that already shows their subject. */
export const subjectActionsView = {
  page: actionsView.page.filter(({ name }) => name !== 'about'),
  text: actionsView.text,
};

/**
 * `maxEntries` is the limit of the list. `subjects` are cells that name the subjects, by id; undefined if the page is about the subject.
 */
export function describeActionTable(
  entries: readonly RecordedAction[],
  reader: FieldReader,
  maxEntries: number,
  subjects?: ReadonlyMap<string, TableCell>,
): TableSection {
  if (subjects === undefined)
    return fieldTable(reader, 'actions', 'operator.actions', entries, subjectActionsView.page, maxEntries);
  const fields = actionsView.page.map((field) => {
    if (field.name === 'about') return { ...field, cell: ({ subject }: RecordedAction) => subjects.get(subject) };
    return field.name === 'by' ? { ...field, at: 'hide' as const, isSpare: true } : field;
  });
  return fieldTable(reader, 'actions', 'operator.actions', entries, fields, maxEntries);
}
