import { getActions } from '#core/business/operator-actions/actions.ts';
import type { RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import {
  translateChoice,
  type DescriberContext,
  describeByName,
  type MemberDescribers,
} from '#core/business/operator-actions/member-describers.ts';
import { readOrderCodes } from '#core/business/payments/order.ts';
import { uuid } from '#core/platform/database/database.ts';
import { readAccountNames } from '../pages/account-name.ts';
import type { PageRequest } from '../pages/page.ts';
import type { TableCell } from '../pages/table.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'>;
type Names = ReadonlyMap<string, string>;

/**
 * Formats the operator's input to an action, its note and its error as a sentence.
 *
 * @param names names of the accounts that the input may contain, by id
 */
export function tellAction(
  { action, details, note, error }: Pick<RecordedAction, 'action' | 'details' | 'note' | 'error'>,
  { t, format, language, host }: Reader,
  names: Names = new Map(),
): string {
  const telling: DescriberContext = { t, format, language, host, names };
  const kind = getActions(host).get(action);
  const tellers: MemberDescribers = { ...kind?.subject.tells, ...kind?.tells };
  const known = Object.keys(tellers).filter((name) => details[name] !== undefined);
  const others = Object.keys(details).filter((name) => !(name in tellers));
  const parts = [
    ...known.map((name) => tellers[name]?.(details[name] as never, telling) ?? ''),
    ...others.map((name) => describeByName(name, details[name], telling)),
  ];
  const text = parts.filter((part) => part !== '').join(', ');
  return [text, note, error && t(error)].filter((part) => part !== undefined && part !== '').join(' – ');
}

/** Sentence that the action was done; the action's name if its plugin was removed. */
export function tellDone(action: string, t: PageRequest['t']): string {
  return translateChoice('operator.did', action, t);
}

/** Names of the accounts that are subjects or inputs of actions, by id. */
export function nameAccounts({ host, t }: Reader, actions: readonly RecordedAction[]): Promise<Names> {
  const named = actions.flatMap(({ subject, details }) => [subject, ...Object.values(details)]);
  const ids = named.filter((value): value is string => typeof value === 'string' && uuid.test(value));
  return readAccountNames(host.database, ids, t);
}

/** Subjects of actions (accounts, orders and routes) with links to their pages, by id. */
export async function readSubjects(
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
