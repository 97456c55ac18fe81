import type { Host } from '#core/gateway/host/host.ts';
import { uuid } from '#core/platform/database/database.ts';
import type { TextValues } from '#core/platform/sentences.ts';
import { currencySection } from '../accounts/plans.ts';
import { providerTitles } from '../accounts/shown-names.ts';

/** What tellers need from the reader of an action record. A page request has all members but the names. */
export interface Telling {
  readonly t: (key: string, values?: TextValues) => string;
  readonly language: string;
  readonly format: { time(at: Date): { readonly text: string }; money(amount: number, currency: string): string };
  readonly host: Pick<Host, 'section'>;
  /** Names, by id, of the accounts that the actions are about or mention. */
  readonly names: ReadonlyMap<string, string>;
}

/** Text in a record for one member of an action's input; '' for none. */
export type Teller<Value = unknown> = { tell(value: Value, telling: Telling): string }['tell'];

/** Tellers by member. */
export type Tellers<Input extends object = Readonly<Record<string, unknown>>> = {
  readonly [Name in keyof Input]?: Teller<NonNullable<Input[Name]>>;
};

export const itself: Teller<string> = (value) => value;
export const quoted: Teller<string> = (value) => `“${value}”`;
/** For a value that another member shows, or an opaque id. */
export const hidden: Teller = () => '';

/** The text `KEY.VALUE`, or the value itself if there is none, for example because its plugin was removed. */
export function tellChoice(key: string, value: string, t: Telling['t']): string {
  const text = t(`${key}.${value}`);
  return text === `${key}.${value}` ? value : text;
}

/** One of a few values, each with a text, which forms show too. */
export const choice = (texts: string): Teller<string> & { readonly texts: string } =>
  Object.assign((value: string, { t }: Telling) => tellChoice(texts, value, t), { texts });

/** A text whose placeholder `name` is filled with the value. */
export const within =
  (key: string, name: string): Teller<string | number> =>
  (value, { t }) =>
    t(key, { [name]: value });

/** A text for true, nothing for false. */
export const whether =
  (key: string): Teller<boolean> =>
  (value, { t }) =>
    value ? t(key) : '';

const instant =
  (key: string): Teller<string> =>
  (value, { t, format }) =>
    Number.isNaN(Date.parse(value)) ? value : t(key, { time: format.time(new Date(value)).text });

/** Members that several actions have. */
export const since = instant('operator.told.since');
export const until = instant('operator.told.until');

/** An amount in the currency of the plans, which no input names. */
export const money: Teller<number> = (amount, { format, host }) => format.money(amount, host.section(currencySection));

export const days: Teller<number> = (count, { t }) =>
  t(count < 0 ? 'operator.told.days_taken' : 'operator.days', { count: Math.abs(count) });

export const signIn: Teller<string> = (provider, { t }) => signInName(provider, t);

/** An account by its id, or an address. `names` has the id of an account without a name. */
export const receiver: Teller<string> = (to, { t, names }) => {
  const name = names.get(to);
  const shownName = name === undefined || name === to ? t('operator.told.other') : name;
  return t('operator.told.to', { to: uuid.test(to) ? shownName : to });
};

/** Display name of a sign-in provider. Local sign-in has its own text. */
export function signInName(provider: string, t: Telling['t']): string {
  return provider === 'local' ? t('operator.local_sign_in') : (providerTitles[provider] ?? provider);
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** Describes a member without a teller: of a removed capability, or of another version. */
export function tellPlainly(name: string, value: unknown, { format }: Telling): string {
  if (value === null || value === undefined || value === false) return '';
  const label = name.replaceAll('_', ' ');
  if (value === true) return label;
  const written = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const at = rfc3339.test(written) ? new Date(written) : undefined;
  return `${label}: ${at === undefined || Number.isNaN(at.getTime()) ? written : format.time(at).text}`;
}
