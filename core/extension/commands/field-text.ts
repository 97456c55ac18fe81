import { formatMoney } from '#core/business/accounts/money.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { EntryTable, FieldValues, ShownField } from '#core/web/resources/field.ts';
import { formatterFor } from '#core/web/texts/formatter.ts';
import {
  formatFields,
  formatSection,
  formatTable,
  formatTime,
  plain,
  type TableOptions,
  type TextCell,
  type TextStyle,
} from './table-text.ts';

interface FieldText {
  readonly timeZone: string;
  readonly now: number; // epoch ms
  readonly names?: ReadonlyMap<string, string>; // by account id
}

/** Formats entries as columns; no lines without entries. `isZoneNamed`: the heading of the first time names the zone. */
export function formatEntries<Entry>(
  entries: readonly Entry[],
  fields: readonly ShownField<Entry>[],
  text: FieldText,
  { isZoneNamed = false, ...options }: TableOptions & { readonly isZoneNamed?: boolean } = {},
): string[] {
  if (entries.length === 0) return [];
  const zoned = isZoneNamed ? fields.find(({ type }) => type === 'time') : undefined;
  return formatTable(
    fields.map((field) => (field === zoned ? `${headingOf(field)} (${text.timeZone})` : headingOf(field))),
    entries.map((entry) => fields.map((field) => cellOf(field, entry, text))),
    options,
  );
}

/** Formats tables below their headings. */
export function formatTables(tables: readonly EntryTable[], text: FieldText): string[] {
  return tables.flatMap(({ name, entries, view }) =>
    formatSection(name, formatEntries(entries, view.text, text, { longest: 500 })),
  );
}

/** Formats one entry as lines of names and values, without empty fields. @param more lines appended below */
export function formatEntry<Entry>(
  entry: Entry,
  fields: readonly ShownField<Entry>[],
  text: FieldText,
  more: Parameters<typeof formatFields>[0] = [],
): string[] {
  const lines = fields.map((field) => [headingOf(field), printField(field, entry, text) || undefined] as const);
  return formatFields([...lines, ...more]);
}

function headingOf<Entry>({ heading, name }: ShownField<Entry>): string {
  return heading ?? name.replaceAll('_', ' ');
}

/** Colours by the kind of a state, for terminals. */
const styles: Readonly<Partial<Record<string, TextStyle>>> = {
  ok: 'green',
  bad: 'red',
  warn: 'yellow',
  waiting: 'yellow',
  info: 'dim',
};

function cellOf<Entry>(field: ShownField<Entry>, entry: Entry, text: FieldText): TextCell {
  const printed = printField(field, entry, text);
  const style = styles[field.kind?.(entry) ?? field.kinds?.[String(field.value(entry, text.now))] ?? ''];
  return style === undefined ? printed : { text: printed, style };
}

function printField<Entry>(field: ShownField<Entry>, entry: Entry, { timeZone, now, names }: FieldText): string {
  const format = formatterFor('en', timeZone);
  const time = (at: Date | undefined, isExact?: boolean) => formatTime(at, timeZone, isExact);
  if (field.print !== undefined) return field.print(entry, { format, time }) ?? '';
  const value = field.value(entry, now);
  if (value === undefined) return '';
  if (value instanceof Date) return formatTime(value, timeZone, field.isExact);
  if (field.type === 'count') return format.number(Number(value));
  if (field.type === 'duration') return plain(format.duration(Number(value)).text);
  if (field.type === 'person') return names?.get(String(value)) ?? String(value);
  if (typeof value !== 'object') return String(value);
  return 'text' in value ? value.text : formatMoney(value.amount, value.currency);
}

/**
 * Handles of the accounts in person fields, by which an account can be found: names alone are not unique, least of all the name of
 * deleted accounts.
 */
export async function readPersons<Entry>(
  host: Pick<Host, 'database'>,
  entries: readonly Entry[],
  fields: readonly ShownField<Entry>[],
): Promise<ReadonlyMap<string, string>> {
  const persons = fields.filter(({ type }) => type === 'person');
  const ids = new Set(entries.flatMap((entry) => persons.map(({ value }) => value(entry, 0) as FieldValues['person'])));
  if (ids.size === 0) return new Map();
  const { readAccounts } = await import('#core/business/accounts/account-record.ts');
  const accounts = await readAccounts(host.database, 'id', [...ids]);
  return new Map(accounts.map(({ id, name, email }) => [id, email ?? `${name} (${id})`]));
}
