import type { Host } from '#core/gateway/host/host.ts';
import { uuid } from '#core/platform/database/database.ts';
import type { TextValues } from '#core/platform/sentences.ts';
import { currencySection } from '../accounts/plans.ts';
import { providerTitles } from '../accounts/provider-titles.ts';

/** What describers know about the reader of an action record. A page request provides all of it except `names`. */
export interface DescriberContext {
  readonly t: (key: string, values?: TextValues) => string;
  readonly language: string;
  readonly format: { time(at: Date): { readonly text: string }; money(amount: number, currency: string): string };
  readonly host: Pick<Host, 'section'>;
  /** Names of the accounts that the actions concern or mention, by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** Describes one member of a recorded input; '' for no text. */
export type MemberDescriber<Value = unknown> = {
  describe(value: Value, context: DescriberContext): string;
}['describe'];

export type MemberDescribers<Input extends object = Readonly<Record<string, unknown>>> = {
  readonly [Name in keyof Input]?: MemberDescriber<NonNullable<Input[Name]>>;
};

export const describeAsIs: MemberDescriber<string> = (value) => value;
export const describeQuoted: MemberDescriber<string> = (value) => `“${value}”`;
/** Omits a value that another member already shows, or an opaque id. */
export const omitMember: MemberDescriber = () => '';

/** Returns the text `KEY.VALUE`, or the value itself if there is no such text (for example because its plugin was removed). */
export function translateChoice(key: string, value: string, t: DescriberContext['t']): string {
  const text = t(`${key}.${value}`);
  return text === `${key}.${value}` ? value : text;
}

/** Describes one of a few values, using the same texts as forms. */
export const describeChoice = (texts: string): MemberDescriber<string> & { readonly texts: string } =>
  Object.assign((value: string, { t }: DescriberContext) => translateChoice(texts, value, t), { texts });

/** Describes a value with a text that has the placeholder `name`. */
export const describeInText =
  (key: string, name: string): MemberDescriber<string | number> =>
  (value, { t }) =>
    t(key, { [name]: value });

/** Describes true with a text, and omits false. */
export const describeFlag =
  (key: string): MemberDescriber<boolean> =>
  (value, { t }) =>
    value ? t(key) : '';

const describeInstant =
  (key: string): MemberDescriber<string> =>
  (value, { t, format }) =>
    Number.isNaN(Date.parse(value)) ? value : t(key, { time: format.time(new Date(value)).text });

export const describeSince = describeInstant('operator.told.since');
export const describeUntil = describeInstant('operator.told.until');

/** Describes an amount in the currency of the plans; inputs do not name a currency. */
export const describeAmount: MemberDescriber<number> = (amount, { format, host }) =>
  format.money(amount, host.section(currencySection));

export const describeDayCount: MemberDescriber<number> = (count, { t }) =>
  t(count < 0 ? 'operator.told.days_taken' : 'operator.days', { count: Math.abs(count) });

export const describeSignIn: MemberDescriber<string> = (provider, { t }) => signInName(provider, t);

/** Describes an account by its name (or an address as it is). For an account without a name, `names` contains the id itself. */
export const describeRecipient: MemberDescriber<string> = (to, { t, names }) => {
  const name = names.get(to);
  const shownName = name === undefined || name === to ? t('operator.told.other') : name;
  return t('operator.told.to', { to: uuid.test(to) ? shownName : to });
};

/** Returns the display name of a sign-in provider. Local sign-in has its own text. */
export function signInName(provider: string, t: DescriberContext['t']): string {
  return provider === 'local' ? t('operator.local_sign_in') : (providerTitles[provider] ?? provider);
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** Describes a member that has no describer by its name; it comes from a removed plugin or another version. */
export function describeByName(name: string, value: unknown, { format }: DescriberContext): string {
  if (value === null || value === undefined || value === false) return '';
  const label = name.replaceAll('_', ' ');
  if (value === true) return label;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const time = rfc3339.test(text) ? new Date(text) : undefined;
  return `${label}: ${time === undefined || Number.isNaN(time.getTime()) ? text : format.time(time).text}`;
}
