import { getActions } from '#core/business/operator-actions/actions.ts';
import {
  translateChoice,
  type DescriberContext,
  describeByName,
  type MemberDescribers,
} from '#core/business/operator-actions/member-describers.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { readOrderCodes } from '#core/business/payments/order.ts';
import { uuid } from '#core/platform/database/database.ts';
import { readAccountNames } from '../pages/account-name.ts';
import type { PageRequest } from '../pages/page.ts';
import type { TableCell } from '../pages/table.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'>;
type Names = ReadonlyMap<string, string>;

/** Describes an action's input, note and error in one line. `names` contains the names of the accounts in the input, by id. */
export function describeAction(
  { action, details, note, error }: Pick<RecordedAction, 'action' | 'details' | 'note' | 'error'>,
  { t, format, language, host }: Reader,
  names: Names = new Map(),
): string {
  const context: DescriberContext = { t, format, language, host, names };
  const kind = getActions(host).get(action);
  const describers: MemberDescribers = { ...kind?.subject.tells, ...kind?.tells };
  const describedNames = Object.keys(describers).filter((name) => details[name] !== undefined);
  const otherNames = Object.keys(details).filter((name) => !(name in describers));
  const parts = [
    ...describedNames.map((name) => describers[name]?.(details[name] as never, context) ?? ''),
    ...otherNames.map((name) => describeByName(name, details[name], context)),
  ];
  const text = parts.filter((part) => part !== '').join(', ');
  return [text, note, error && t(error)].filter((part) => part !== undefined && part !== '').join(' – ');
}

/** Returns the sentence about a completed action, or the action's name if its plugin was removed. */
export function describeDone(action: string, t: PageRequest['t']): string {
  return translateChoice('operator.did', action, t);
}

/** Reads the names of the accounts in actions' subjects and inputs, by id. */
export function readSubjectNames({ host, t }: Reader, actions: readonly RecordedAction[]): Promise<Names> {
  const values = actions.flatMap(({ subject, details }) => [subject, ...Object.values(details)]);
  const ids = values.filter((value): value is string => typeof value === 'string' && uuid.test(value));
  return readAccountNames(host.database, ids, t);
}

/** Describes the subjects of actions (accounts, orders and routes) as cells that link to their pages, by id. */
export async function readSubjectCells(
  { host }: Reader,
  actions: readonly RecordedAction[],
  names: Names,
): Promise<ReadonlyMap<string, TableCell>> {
  const ids = actions.map(({ subject }) => subject).filter((id) => uuid.test(id));
  const codes = await readOrderCodes(host.database, ids);
  const routes = actions.filter(({ action }) => action === 'route.reset').map(({ subject }) => subject);
  return new Map<string, TableCell>([
    ...Array.from(names, ([id, text]) => [id, { text, path: `/operator/accounts/${id}` }] as const),
    ...Array.from(codes, ([id, text]) => [id, { text, path: `/operator/orders/${text}` }] as const),
    ...routes.map((text) => [text, { text, path: '/operator/routes' }] as const),
  ]);
}
