import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import type { Column } from '#core/gateway/records/column.ts';
import { type Moment, type RecordSource, sources } from '#core/gateway/records/columns.ts';
import { toJsonLiteral } from './json-literal.ts';

/*
 * A line of the journal is a JSON object that starts with its kind:
 * - `begin` when a request arrives, `enter` when it is about to go upstream, `end` when it is over. An `end` line is the complete record;
 *   the other two are used only if it is missing.
 * - `skip` in place of `end` for a request that is counted but not recorded, if its `begin` line was written.
 * - `content` for the bodies of request and reply, after the `end` line, if the operator records bodies.
 *
 * Its members are the columns of request_log (core/gateway/records/columns.ts); unknown values are omitted. Every request waits for its
 * lines, so they are concatenated: JSON.stringify takes 1.4 times as long and has no length limits. A line is ASCII. The limits of the
 * columns keep it under 64 KiB, and a `content` line under 256 KiB; both fit into the writer's buffer.
 */
export const lineStart = {
  begin: '{"at":"begin",',
  enter: '{"at":"enter",',
  end: '{"at":"end",',
  skip: '{"at":"skip",',
  content: '{"at":"content",',
} as const;

/** Writes what is known when a request arrives; `id` comes first. */
export const writeRequestMembers: (exchange: Exchange) => string = compileWriter(selectSources('request'), '');
/** Writes what is known when all stages before `upstream` have accepted the request, each member after a comma. */
export const writeCallerMembers: (exchange: Exchange) => string = compileWriter(selectSources('caller'), ',');
export const writeResultMembers: (exchange: Exchange, outcome: Outcome) => string = compileWriter(
  selectSources('result'),
  ',',
);

type Source = Pick<RecordSource, 'columns'> & { find(from: never, outcome?: Outcome): unknown };
type WriteMembers = (from: unknown, outcome?: Outcome) => string;

function selectSources(moment: Moment): readonly Source[] {
  return sources.filter((source) => source.moment === moment);
}

function compileWriter(memberSources: readonly Source[], separator: string): WriteMembers {
  const body = memberSources.map(({ columns }, index) => {
    const members = Object.entries(columns).map(([name, column], position) => {
      const start = JSON.stringify(`${index + position === 0 ? separator : ','}"${name}":`);
      return `value = sources[${index}].columns.${name}.read(found); ${renderGuard(column)} text += ${start} + ${renderValue(name, column)};`;
    });
    return `found = sources[${index}].find(from, outcome); if (found !== undefined) { ${members.join('\n')} }`;
  });
  const listColumns = memberSources.flatMap(({ columns }) =>
    Object.entries(columns).filter(([, { entries }]) => entries !== undefined),
  );
  const writers = Object.fromEntries(listColumns.map(([name, column]) => [name, createListWriter(column)]));
  const text = `return (from, outcome) => { let text = '', found, value; ${body.join('\n')} return text; }`;
  // Compiled from text, as Ajv does with validators, so that V8 inlines the `read` of each column: a loop over functions takes 1.3 times as
  // long. The text contains only names and numbers from the table of columns.
  return new Function('sources', 'writers', 'literal', text)(memberSources, writers, toJsonLiteral) as WriteMembers;
}

function renderGuard({ type, isRequired, maximum = Number.MAX_SAFE_INTEGER }: Column<never>): string {
  if (/int/.test(type)) return `if (value >= 0 && value <= ${maximum})`;
  return isRequired ? '' : 'if (value !== undefined)';
}

function renderValue(name: string, { type, maxLength, entries }: Column<never>): string {
  if (entries !== undefined) return `writers.${name}(value)`;
  if (type === 'boolean') return 'value';
  if (type !== 'text' && type !== 'uuid') return 'Math.round(value)';
  return maxLength === undefined ? `'"' + value + '"'` : `literal(value, ${maxLength})`;
}

function createListWriter({ entries = 0, maxLength = 0, members }: Column<never>): WriteMembers {
  const writeMembers = members && compileWriter([{ find: (item) => item, columns: members }], '');
  const write = (item: unknown) =>
    writeMembers ? `{${writeMembers(item)}}` : toJsonLiteral(item as string, maxLength);
  return (value) => {
    const list = value as readonly unknown[];
    const boundedList = entries < 0 ? list.slice(entries) : list.slice(0, entries);
    return `[${boundedList.map(write).join()}]`;
  };
}
