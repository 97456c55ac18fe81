import { translateChoice } from '#core/business/operator-actions/member-describers.ts';
import type { PageRequest } from '../pages/page.ts';
import type { Formatter } from '../texts/formatter.ts';
import { type ColumnOf, describeTable, type TableCell, type TableColumn, type TableSection } from '../pages/table.ts';

/** Values by the type of their field. Secrets have no type: a value that fits no type is not shown. */
export interface FieldValues {
  /** Identifier for operators; not translated. */
  readonly id: string;
  readonly time: Date;
  /** In the smallest unit that the currency is paid in. */
  readonly money: { readonly amount: number; readonly currency: string };
  readonly count: number;
  /** In ms. */
  readonly duration: number;
  /** One of a few values. */
  readonly state: string;
  readonly text: string;
  /** Id of an account, shown by its name. */
  readonly person: string;
  /** A subject that has its own page. */
  readonly link: Pick<TableCell, 'text' | 'path' | 'isCode' | 'isButton'>;
}

/** Reader of a page. */
export type FieldReader = Pick<PageRequest, 't' | 'format' | 'language' | 'host'> & {
  /** Names of accounts, by id. */
  readonly names?: ReadonlyMap<string, string>;
};

/** How commands format values, in English. */
export interface TextReader {
  readonly format: Formatter;
  /** In the command's time zone; '' for none. */
  time(at: Date | undefined, isExact?: boolean): string;
}

type PageValue = ReturnType<ColumnOf<unknown>['cell']>;

/** Presentation of a field. */
interface Showing<Entry> extends Partial<Pick<TableColumn, 'at' | 'fit' | 'isNamed' | 'isSpare'>> {
  /** Key of its label on pages; default: its name after the prefix of the view. */
  readonly label?: string;
  /** Heading in the output of commands; default: its name. */
  readonly heading?: string;
  /** For a state: pages show the text `TEXTS.STATE`, or the state if there is none, with the icon of its kind. Default: its label. */
  readonly texts?: string;
  readonly kinds?: Readonly<Partial<Record<string, TableCell['kind']>>>;
  /** Colour in the output of commands, if it does not follow from the value. */
  kind?(entry: Entry): TableCell['kind'];
  /** True: commands print a time with its seconds. */
  readonly isExact?: boolean;
  /** True: the gateway wrote the text, and translates it. */
  readonly isSentence?: boolean;
  /** Cell on pages, if it differs from the output of commands. */
  cell?(entry: Entry, reader: FieldReader): PageValue;
  /** Output of commands, if it differs. */
  print?(entry: Entry, reader: TextReader): string | undefined;
}

/** Names of the members whose values have a type. */
type MemberOf<Entry, Value> = {
  [Name in keyof Entry & string]: Entry[Name] extends Value | null | undefined ? Name : never;
}[keyof Entry & string];

interface FieldOf<Entry, Type extends keyof FieldValues> extends Showing<Entry> {
  readonly type: Type;
  /** Member that has the value; default: `value`, or else the entry itself. */
  readonly of?: MemberOf<Entry, FieldValues[Type]>;
  /**
   * The value; undefined if there is none.
   *
   * @param now epoch ms
   */
  value?(entry: Entry, now: number): FieldValues[Type] | null | undefined;
}

/** A field of an entry that operators see: in tables of pages if it has a position there (`at`), and in the output of commands. */
type Field<Entry> = { [Type in keyof FieldValues]: FieldOf<Entry, Type> }[keyof FieldValues];

/** A field as it is shown. */
export interface ShownField<Entry> extends Showing<Entry> {
  readonly name: string;
  readonly type: keyof FieldValues;
  value(entry: Entry, now: number): FieldValues[keyof FieldValues] | undefined;
}

/** The operators' view of one kind of entries. */
export interface EntryView<Entry, Name extends string = string> {
  /** Columns of tables on pages. */
  readonly page: readonly ShownField<Entry>[];
  /** Columns of tables that commands print. */
  readonly text: readonly ShownField<Entry>[];
  /** Selected fields, in this order. */
  pick(...names: readonly Name[]): ShownField<Entry>[];
}

/** A table below the facts of an entry, on its page and in the output of its command. */
export interface EntryTable {
  /** Its heading; on pages the key `operator.NAME`. */
  readonly name: string;
  readonly entries: readonly unknown[];
  readonly view: Pick<EntryView<unknown>, 'page' | 'text'>;
}

/**
 * Describes entries once: their fields in the order of pages, and the names of those that commands print; default: all.
 *
 * @param prefix of label keys: `operator.NAME`
 */
export function defineView<Entry>(prefix = 'operator') {
  return <const Name extends string>(
    fields: Readonly<Record<Name, Field<Entry>>>,
    text?: readonly NoInfer<Name>[],
  ): EntryView<Entry, Name> => {
    const shown = (name: Name): ShownField<Entry> => {
      const field = fields[name];
      return { label: `${prefix}.${name}`, ...field, name, value: readerOf(field) };
    };
    const names = Object.keys(fields) as Name[];
    return {
      page: names.filter((name) => fields[name].at !== undefined).map(shown),
      text: (text ?? names).map(shown),
      pick: (...picked) => picked.map(shown),
    };
  };
}

function readerOf<Entry>(field: Field<Entry>): ShownField<Entry>['value'] {
  const { of: member } = field;
  if (member !== undefined) return (entry) => (entry[member] as FieldValues[keyof FieldValues] | null) ?? undefined;
  return (entry, now) => field.value?.(entry, now) ?? undefined;
}

const labelOf = <Entry>({ label, name }: ShownField<Entry>) => label ?? `operator.${name}`;

/**
 * A page's table with a row for each entry.
 *
 * @param title text key
 */
export function fieldTable<Entry>(
  reader: FieldReader,
  id: string,
  title: string,
  entries: readonly Entry[],
  fields: readonly ShownField<Entry>[],
): TableSection {
  const columns = fields.map((field): ColumnOf<Entry> => {
    const { at = 'hide', type } = field;
    const isNumber = type === 'count' || type === 'money' || type === 'duration';
    return { ...field, at, isNumber, label: labelOf(field), cell: (entry) => cellOf(field, entry, reader) };
  });
  return describeTable(reader, id, title, entries, columns);
}

export function entryTables(reader: FieldReader, tables: readonly EntryTable[]): TableSection[] {
  return tables.map(({ name, entries, view }) => fieldTable(reader, name, `operator.${name}`, entries, view.page));
}

/** A name and a value on a page, formatted for its reader. */
export interface PageFact {
  readonly name: string;
  readonly value: string;
  readonly path?: string;
  readonly isCode?: boolean;
}

/** Names and values of one entry; fields without a value are omitted. */
export function describeFacts<Entry>(
  reader: FieldReader,
  entry: Entry,
  fields: readonly ShownField<Entry>[],
): PageFact[] {
  const { t, format } = reader;
  return fields.flatMap((field): PageFact[] => {
    const name = t(labelOf(field));
    const value = cellOf(field, entry, reader);
    if (value === undefined || value === '') return [];
    if (value instanceof Date) return [{ name, value: format.time(value).text }];
    if (typeof value === 'object') return [{ name, ...value, value: value.text }];
    return [{ name, value: typeof value === 'number' ? format.number(value) : value }];
  });
}

function cellOf<Entry>(field: ShownField<Entry>, entry: Entry, reader: FieldReader): PageValue {
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
      return { text: translateChoice(field.texts ?? labelOf(field), value, t), kind: field.kinds?.[value] };
    case 'person':
      return { text: names?.get(value) ?? value, path: `/operator/accounts/${value}` };
    default:
      return field.isSentence === true ? t(value) : value;
  }
}
