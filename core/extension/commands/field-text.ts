import { formatMoney } from '#core/business/accounts/money.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { EntryTable, FieldValues, ShownField } from '#core/web/resources/field.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import {
  formatFields,
  formatSection,
  formatTable,
  formatTime,
  toPlainSpaces,
  type TableOptions,
  type TextCell,
  type TextStyle,
} from './table-text.ts';

export interface TextContext {
  readonly timeZone: string;
  readonly now: number; // epoch ms
  readonly names?: ReadonlyMap<string, string>; // by account id
}

/**
 * Formats entries as a table; returns no lines if there are no entries.
 *
 * @param options.isZoneNamed whether the heading of the first time column includes the zone
 */
export function formatEntries<Entry>(
  entries: readonly Entry[],
  fields: readonly ShownField<Entry>[],
  text: TextContext,
  { isZoneNamed = false, ...options }: TableOptions & { readonly isZoneNamed?: boolean } = {},
): string[] {
  if (entries.length === 0) return [];
  const zonedField = isZoneNamed ? fields.find(({ type }) => type === 'time') : undefined;
  return formatTable(
    fields.map((field) => (field === zonedField ? `${headingOf(field)} (${text.timeZone})` : headingOf(field))),
    entries.map((entry) => fields.map((field) => formatCell(field, entry, text))),
    options,
  );
}

export function formatTables(tables: readonly EntryTable[], text: TextContext): string[] {
  return tables.flatMap(({ name, entries, earlierCount = 0, maxEntries = Infinity, view }) =>
    formatSection(name, [
      ...formatEntries(entries, view.text, text, { maxLength: 500 }),
      ...(earlierCount > 0 ? [`${earlierCount} earlier not listed`] : []),
      ...(entries.length >= maxEntries ? [`only the newest ${maxEntries} are listed`] : []),
    ]),
  );
}

/** Formats one entry as `name value` lines, followed by `extraFields`. Empty fields are omitted. */
export function formatEntry<Entry>(
  entry: Entry,
  fields: readonly ShownField<Entry>[],
  text: TextContext,
  extraFields: Parameters<typeof formatFields>[0] = [],
): string[] {
  const entryFields = fields.map((field) => [headingOf(field), formatField(field, entry, text) || undefined] as const);
  return formatFields([...entryFields, ...extraFields]);
}

function headingOf<Entry>({ heading, name }: ShownField<Entry>): string {
  return heading ?? name.replaceAll('_', ' ');
}

const stateStyles: Readonly<Partial<Record<string, TextStyle>>> = {
  ok: 'green',
  bad: 'red',
  warn: 'yellow',
  waiting: 'yellow',
  info: 'dim',
};

function formatCell<Entry>(field: ShownField<Entry>, entry: Entry, text: TextContext): TextCell {
  const cellText = formatField(field, entry, text);
  const style = stateStyles[field.kind?.(entry) ?? field.kinds?.[String(field.value(entry, text.now))] ?? ''];
  return style === undefined ? cellText : { text: cellText, style };
}

function formatField<Entry>(field: ShownField<Entry>, entry: Entry, { timeZone, now, names }: TextContext): string {
  const format = getFormatter('en', timeZone);
  const time = (date: Date | undefined, isExact?: boolean) => formatTime(date, timeZone, isExact);
  if (field.print !== undefined) return field.print(entry, { format, time }) ?? '';
  const value = field.value(entry, now);
  if (value === undefined) return '';
  if (value instanceof Date) return formatTime(value, timeZone, field.isExact);
  if (field.type === 'count') return format.number(Number(value));
  if (field.type === 'duration') return toPlainSpaces(format.duration(Number(value)).text);
  if (field.type === 'person') return names?.get(String(value)) ?? String(value);
  if (typeof value !== 'object') return String(value);
  return 'text' in value ? value.text : formatMoney(value.amount, value.currency);
}

/**
 * Reads the handles of all accounts in person fields, by account id. A handle is the email address, or the name plus the id, because names
 * are not unique: all deleted accounts share one.
 */
export async function readAccountHandles<Entry>(
  host: Pick<Host, 'database'>,
  entries: readonly Entry[],
  fields: readonly ShownField<Entry>[],
): Promise<ReadonlyMap<string, string>> {
  const personFields = fields.filter(({ type }) => type === 'person');
  const ids = new Set(
    entries.flatMap((entry) => personFields.map(({ value }) => value(entry, 0) as FieldValues['person'])),
  );
  if (ids.size === 0) return new Map();
  const { readAccounts } = await import('#core/business/accounts/account-record.ts');
  const accounts = await readAccounts(host.database, 'id', [...ids]);
  return new Map(accounts.map(({ id, name, email }) => [id, email ?? `${name} (${id})`]));
}
