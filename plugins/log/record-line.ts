import type { Column } from '#core/gateway/records/column.ts';
import { type Moment, type RecordSource, sources } from '#core/gateway/records/columns.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { literal } from './text.ts';

/*
 * A line of the journal is a JSON object that begins with its kind:
 * - `begin` when a request arrives, `enter` when it is about to go upstream, `end` when it is over. An `end` is the whole
 *   record; the other two count only if it is missing.
 * - `skip` in place of the `end` of a request that is counted but not recorded, if its `begin` is on file.
 * - `content` for the bodies of request and reply, after the `end`, if the operator records them.
 *
 * Members are the columns of request_log (core/gateway/records/columns.ts); unknown values are left out. Every request waits for
 * its lines, so they are concatenated: JSON.stringify takes 1.4 times as long, without bounds. A line is ASCII. The bounds of
 * the columns keep it under 64 KiB, a line of content under 256 KiB, which the writer has room for.
 */
export const startOf = {
  begin: '{"at":"begin",',
  enter: '{"at":"enter",',
  end: '{"at":"end",',
  skip: '{"at":"skip",',
  content: '{"at":"content",',
} as const;

/** The members that are known when a request arrives; `id` is the first. */
export const requestMembers: (exchange: Exchange) => string = compile(sourcesAt('request'), '');
/** The members that are known once every stage before `upstream` has let the request pass, each after a comma. */
export const callerMembers: (exchange: Exchange) => string = compile(sourcesAt('caller'), ',');
/** The members that are known when it is over, each after a comma. */
export const resultMembers: (exchange: Exchange, outcome: Outcome) => string = compile(sourcesAt('result'), ',');

type Source = Pick<RecordSource, 'columns'> & { find(from: never, outcome?: Outcome): unknown };
type Write = (from: unknown, outcome?: Outcome) => string;

function sourcesAt(moment: Moment): readonly Source[] {
  return sources.filter((source) => source.moment === moment);
}

/**
 * Creates the function that writes the members of some sources. It is compiled from text, as Ajv compiles a validator, so that
 * V8 inlines the `read` of each column: a loop over functions takes 1.3 times as long. Only names and numbers of the table of
 * columns go into the text.
 *
 * @param separator before the first member
 */
function compile(own: readonly Source[], separator: string): Write {
  const body = own.map(({ columns }, index) => {
    const members = Object.entries(columns).map(([name, column], position) => {
      const start = JSON.stringify(`${index + position === 0 ? separator : ','}"${name}":`);
      return `value = sources[${index}].columns.${name}.read(found); ${guardOf(column)} text += ${start} + ${valueOf(name, column)};`;
    });
    return `found = sources[${index}].find(from, outcome); if (found !== undefined) { ${members.join('\n')} }`;
  });
  const lists = own.flatMap(({ columns }) =>
    Object.entries(columns).filter(([, { entries }]) => entries !== undefined),
  );
  const writers = Object.fromEntries(lists.map(([name, column]) => [name, writerOfList(column)]));
  const text = `return (from, outcome) => { let text = '', found, value; ${body.join('\n')} return text; }`;
  return new Function('sources', 'writers', 'literal', text)(own, writers, literal) as Write;
}

function guardOf({ type, isRequired, maximum = Number.MAX_SAFE_INTEGER }: Column<never>): string {
  if (/int/.test(type)) return `if (value >= 0 && value <= ${maximum})`;
  return isRequired ? '' : 'if (value !== undefined)';
}

function valueOf(name: string, { type, maxLength, entries }: Column<never>): string {
  if (entries !== undefined) return `writers.${name}(value)`;
  if (type === 'boolean') return 'value';
  if (type !== 'text' && type !== 'uuid') return 'Math.round(value)';
  return maxLength === undefined ? `'"' + value + '"'` : `literal(value, ${maxLength})`;
}

function writerOfList({ entries = 0, maxLength = 0, members }: Column<never>): Write {
  const writeMembers = members && compile([{ find: (item) => item, columns: members }], '');
  const write = (item: unknown) => (writeMembers ? `{${writeMembers(item)}}` : literal(item as string, maxLength));
  return (value) => {
    const list = value as readonly unknown[];
    const kept = entries < 0 ? list.slice(entries) : list.slice(0, entries);
    return `[${kept.map(write).join()}]`;
  };
}
