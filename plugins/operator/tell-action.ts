import { providerTitles } from '#core/business/accounts/shown-names.ts';
import { currencySection } from '#core/business/accounts/plans.ts';
import type { ActionWords, RecordedAction } from '#core/business/operator-actions/operator-actions.ts';
import { readOrderCodes } from '#core/business/payments/order.ts';
import { uuid } from '#core/platform/database/database.ts';
import { readAccountNames } from '#core/web/pages/account-name.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import type { TableCell } from '#core/web/pages/table.ts';

type Reader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'>;
type Details = RecordedAction['details'];
type Names = ReadonlyMap<string, string>;
type Telling = Reader & { readonly names: Names };

const time =
  (name: 'since' | 'until') =>
  (value: string, { t, format }: Telling) =>
    t(`operator.told.${name}`, { time: format.time(new Date(value)).text });
const choice =
  <Value extends string>(key: string) =>
  (value: Value, { t }: Telling) =>
    t(`${key}.${value}`);
const itself = (value: string) => value;
const quoted = (value: string) => `“${value}”`;
/** What another member says, or an id that says nothing to people. */
const untold = () => '';

/** The words for each member of an action's input, in the order in which they are shown. */
const members: {
  readonly [Name in keyof Required<Details>]: (value: NonNullable<Details[Name]>, telling: Telling) => string;
} = {
  kind: choice('operator.announcement_kind'),
  audience: choice('operator.audience'),
  flag: choice('operator.flag'),
  mailed: choice('operator.mail'),
  refund: (refund, { t }) => t('operator.told.refund', { refund }),
  configuration: (number, { t }) => t('operator.configuration_number', { number }),
  number: (number, { t }) => t('operator.told.canary', { number }),
  file: itself,
  share: (share, { t }) => t('operator.told.share', { share }),
  minutes: (count, { t }) => t('operator.credit_minutes', { count }),
  count: (count, { t }) => t('operator.told.vouchers', { count }),
  // In the currency of the plans, which no action names.
  amount: (amount, { format, host }) => format.money(amount, host.section(currencySection)),
  days: (days, { t }) => t(days < 0 ? 'operator.told.days_taken' : 'operator.days', { count: Math.abs(days) }),
  source: choice('operator.told.source'),
  for: choice('operator.told.for'),
  days_back: choice('operator.told.days_back'),
  manual: (isManual, { t }) => (isManual ? t('operator.told.manual') : ''),
  as: choice('operator.refund_state'),
  outcome: choice('operator.flag_outcome'),
  sign_in: (provider, { t }) => signInName(provider, t),
  to: (to, { t, names }) => t('operator.told.to', { to: uuid.test(to) ? nameOf(to, names, t) : to }),
  day: itself,
  time_zone: itself,
  provider: itself,
  model: itself,
  since: time('since'),
  until: time('until'),
  label: quoted,
  text_en: (text, { language }) => (language === 'en' ? quoted(text) : ''),
  text_id: (text, { language }) => (language === 'id' ? quoted(text) : ''),
  mail: (isMailed, { t }) => (isMailed ? t('operator.told.mail') : ''),
  payment: untold,
  outage: untold,
  confirm: untold,
};

/** An account without a name has its id for one. */
function nameOf(id: string, names: Names, t: Reader['t']): string {
  const name = names.get(id);
  return name === undefined || name === id ? t('operator.told.other') : name;
}

/**
 * What an operator said with an action, in words, and how it failed.
 *
 * @param names of the accounts that it may name, by id
 */
export function tellAction(
  { details, note, error }: Pick<RecordedAction, 'details' | 'note' | 'error'>,
  { t, format, language, host }: Reader,
  names: Names = new Map(),
): string {
  const telling = { t, format, language, host, names };
  const told = (Object.keys(members) as (keyof Details)[]).flatMap((name) => {
    const value: ActionWords[typeof name] = details[name];
    return value === undefined ? [] : [(members[name] as (of: unknown, to: Telling) => string)(value, telling)];
  });
  const said = told.filter((part) => part !== '').join(', ');
  return [said, note, error && t(error)].filter((part) => part !== undefined && part !== '').join(' – ');
}

/** Names of the accounts that actions are about or name, by id. */
export function nameAccounts({ host, t }: Reader, actions: readonly RecordedAction[]): Promise<Names> {
  const ids = actions.flatMap(({ subject, details: { to = '' } }) => [subject, to].filter((id) => uuid.test(id)));
  return readAccountNames(host.database, ids, t);
}

/** Accounts, orders and routes that actions are about, with their pages, by their ids. */
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

/** Local sign-in is no provider with a name. */
export function signInName(provider: string, t: PageRequest['t']): string {
  return provider === 'local' ? t('operator.local_sign_in') : (providerTitles[provider] ?? provider);
}
