import { type ActionKind, splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { translateChoice } from '#core/business/operator-actions/member-describers.ts';
import { readAccountNames } from '../pages/account-name.ts';
import type { PageRequest } from '../pages/page.ts';
import { type ColumnOf, describeTable, type TableCell, type TableColumn, type TableSection } from '../pages/table.ts';
import type { Formatter } from '../texts/formatter.ts';

/** The type of a field's value. There is deliberately no type for secrets. */
export interface FieldValues {
  /** Identifier for operators. Not translated. */
  readonly id: string;
  readonly time: Date;
  /** Amount in the currency's smallest payable unit. */
  readonly money: { readonly amount: number; readonly currency: string };
  readonly count: number;
  /** Duration in ms. */
  readonly duration: number;
  /** One of a few values. */
  readonly state: string;
  readonly text: string;
  /** Id of an account, which is shown by its name. */
  readonly person: string;
  /** Something that has its own page. */
  readonly link: Pick<TableCell, 'text' | 'path' | 'isCode' | 'isButton'>;
}

export type FieldReader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'> & {
  /** Names of accounts, by id. */
  readonly names?: ReadonlyMap<string, string>;
};

/** Formats values for command output, in English. */
export interface TextReader {
  readonly format: Formatter;
  /** Formats a time in the command's time zone; '' if there is none. */
  time(at: Date | undefined, isExact?: boolean): string;
}

type PageValue = ReturnType<ColumnOf<unknown>['cell']>;

interface FieldPresentation<Entry> extends Partial<Pick<TableColumn, 'at' | 'fit' | 'isNamed' | 'isSpare'>> {
  /** Text key for the label on pages; default: `PREFIX.NAME`, with the prefix of the view. */
  readonly label?: string;
  /** Heading in command output; default: the field's name. */
  readonly heading?: string;
  /**
   * Prefix of the text keys for a state: pages show `TEXTS.STATE`, or the state itself if there is no such text. Default: the label's key.
   */
  readonly texts?: string;
  /** Icons, by state. */
  readonly kinds?: Readonly<Partial<Record<string, TableCell['kind']>>>;
  /** Returns the color in command output, if it does not follow from the value. */
  kind?(entry: Entry): TableCell['kind'];
  /** True if commands print a time with seconds. */
  readonly isExact?: boolean;
  /** True if the text is one of the gateway's own sentences, which pages translate. */
  readonly isSentence?: boolean;
  /** Returns the path of the page that a text links to; undefined if there is none. */
  link?(entry: Entry, now: number): string | undefined;
  /** Returns the cell for pages, if it differs from the value. */
  cell?(entry: Entry, reader: FieldReader): PageValue;
  /** Returns the text for command output, if it differs from the value. */
  print?(entry: Entry, reader: TextReader): string | undefined;
}

type MemberOf<Entry, Value> = {
  [Name in keyof Entry & string]: Entry[Name] extends Value | null | undefined ? Name : never;
}[keyof Entry & string];

interface FieldOf<Entry, Type extends keyof FieldValues> extends FieldPresentation<Entry> {
  readonly type: Type;
  /** The member that holds the value; default: `value` computes it. */
  readonly of?: MemberOf<Entry, FieldValues[Type]>;
  /** Returns the value at `now` (epoch ms); undefined if there is none. */
  value?(entry: Entry, now: number): FieldValues[Type] | null | undefined;
}

/** A field about an entry, for operators. On pages, it is a column of tables if it has a position there (`at`). */
type Field<Entry> = { [Type in keyof FieldValues]: FieldOf<Entry, Type> }[keyof FieldValues];

export interface ShownField<Entry> extends FieldPresentation<Entry> {
  readonly name: string;
  readonly type: keyof FieldValues;
  value(entry: Entry, now: number): FieldValues[keyof FieldValues] | undefined;
}

/** How operators see one kind of entry. */
export interface EntryView<Entry, Name extends string = string> {
  /** The columns of tables on pages. */
  readonly page: readonly ShownField<Entry>[];
  /** The columns of tables that commands print. */
  readonly text: readonly ShownField<Entry>[];
  /** Returns these fields, in this order. */
  pick(...names: readonly Name[]): ShownField<Entry>[];
}

/** A table below an entry's facts, on its page and in command output. */
export interface EntryTable {
  /** Heading in command output; pages use the text `operator.NAME`. */
  readonly name: string;
  readonly entries: readonly unknown[];
  /** How many earlier entries are not listed; default: 0. */
  readonly earlierCount?: number;
  /** Number of entries to which the list was limited; default: it is complete. */
  readonly maxEntries?: number;
  readonly view: Pick<EntryView<unknown>, 'page' | 'text'>;
}

/**
 * Defines how operators see entries, on pages and in commands. Label keys are `PREFIX.NAME`. The returned function takes the fields in the
 * order of pages, and the names of those that commands print; default: all.
 */
export function defineView<Entry>(prefix = 'operator') {
  return <const Name extends string>(
    fields: Readonly<Record<Name, Field<Entry>>>,
    text?: readonly NoInfer<Name>[],
  ): EntryView<Entry, Name> => {
    const toShownField = (name: Name): ShownField<Entry> => {
      const field = fields[name];
      return { label: `${prefix}.${name}`, ...field, name, value: createValueReader(field) };
    };
    const names = Object.keys(fields) as Name[];
    return {
      page: names.filter((name) => fields[name].at !== undefined).map(toShownField),
      text: (text ?? names).map(toShownField),
      pick: (...picked) => picked.map(toShownField),
    };
  };
}

function createValueReader<Entry>(field: Field<Entry>): ShownField<Entry>['value'] {
  const { of: member } = field;
  if (member !== undefined) return (entry) => (entry[member] as FieldValues[keyof FieldValues] | null) ?? undefined;
  return (entry, now) => field.value?.(entry, now) ?? undefined;
}

const labelKey = <Entry>({ label, name }: ShownField<Entry>) => label ?? `operator.${name}`;

/**
 * Describes a table on a page, with one row per entry. `title` is a text key. A list of `maxEntries` entries gets a note, because older
 * ones may exist.
 */
export function fieldTable<Entry>(
  reader: FieldReader,
  id: string,
  title: string,
  entries: readonly Entry[],
  fields: readonly ShownField<Entry>[],
  maxEntries = Infinity,
): TableSection {
  const columns = fields.map((field): ColumnOf<Entry> => {
    const { at = 'hide', type } = field;
    const isNumber = type === 'count' || type === 'money' || type === 'duration';
    return { ...field, at, isNumber, label: labelKey(field), cell: (entry) => createCell(field, entry, reader) };
  });
  const table = describeTable(reader, id, title, entries, columns);
  if (entries.length < maxEntries) return table;
  return { ...table, note: reader.t('operator.newest_listed', { count: maxEntries }) };
}

export function describeEntryTables(reader: FieldReader, tables: readonly EntryTable[]): TableSection[] {
  return tables.map(({ name, entries, earlierCount = 0, maxEntries, view }) => ({
    ...fieldTable(reader, name, `operator.${name}`, entries, view.page, maxEntries),
    ...(earlierCount > 0 && { note: reader.t('operator.earlier', { count: earlierCount }) }),
  }));
}

/** Returns a reader that knows the names of the accounts in person fields. */
export async function withPersonNames<Entry>(
  reader: FieldReader,
  entries: readonly Entry[],
  fields: readonly ShownField<Entry>[],
): Promise<FieldReader> {
  const { host, t } = reader;
  const personFields = fields.filter(({ type }) => type === 'person');
  const values = entries.flatMap((entry) => personFields.map(({ value }) => value(entry, host.now())));
  const ids = values.filter((id) => typeof id === 'string');
  return ids.length === 0 ? reader : { ...reader, names: await readAccountNames(host.database, ids, t) };
}

/**
 * Returns a cell that links to the page of an action on the row's subject (`plainPage`), below the `path` of the list. `label` is a text
 * key; default: the text on the action's button.
 */
export const actionCell =
  ({ name }: Pick<ActionKind, 'name'>, path: string, label = `operator.act.${name}`) =>
  ({ id }: { readonly id: string }, { t }: Pick<FieldReader, 't'>): TableCell => ({
    text: t(label),
    path: `${path}/${id}/${splitActionName(name).verb}`,
    isButton: true,
  });

/** A name and a value on a page, formatted for the reader. */
export interface PageFact {
  readonly name: string;
  readonly value: string;
  readonly path?: string;
  readonly isCode?: boolean;
}

/** Describes an entry's fields for its page, omitting fields without a value. */
export function describeEntryFacts<Entry>(
  reader: FieldReader,
  entry: Entry,
  fields: readonly ShownField<Entry>[],
): PageFact[] {
  const { t, format } = reader;
  return fields.flatMap((field): PageFact[] => {
    const name = t(labelKey(field));
    const value = createCell(field, entry, reader);
    if (value === undefined || value === '') return [];
    if (value instanceof Date) return [{ name, value: format.time(value).text }];
    if (typeof value === 'object') return [{ name, ...value, value: value.text }];
    return [{ name, value: typeof value === 'number' ? format.number(value) : value }];
  });
}

function createCell<Entry>(field: ShownField<Entry>, entry: Entry, reader: FieldReader): PageValue {
  const content = createContent(field, entry, reader);
  const path = field.link?.(entry, reader.host.now());
  if (path === undefined || content === undefined || content instanceof Date) return content;
  return typeof content === 'object' ? { ...content, path } : { text: String(content), path };
}

function createContent<Entry>(field: ShownField<Entry>, entry: Entry, reader: FieldReader): PageValue {
  const { t, format, host, names } = reader;
  if (field.cell !== undefined) return field.cell(entry, reader);
  const value = field.value(entry, host.now());
  if (value === undefined || value instanceof Date) return value;
  if (typeof value === 'object') return 'text' in value ? value : format.money(value.amount, value.currency);
  if (typeof value === 'number') return field.type === 'duration' ? format.duration(value).text : value;
  switch (field.type) {
    case 'id':
      return { text: value, isCode: true };
    case 'state':
      return { text: translateChoice(field.texts ?? labelKey(field), value, t), kind: field.kinds?.[value] };
    case 'person':
      return { text: names?.get(value) ?? value, path: `/operator/accounts/${value}` };
    default:
      return field.isSentence === true ? t(value) : value;
  }
}
