import { type Command as Parser, InvalidArgumentError, Option } from 'commander';
import type { ActionKind, InputSchema } from '#core/business/operator-actions/action-kind.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { createLineParser, parseInteger, parseNumber } from './arguments.ts';
import { parseDay, parseTime, resolveTime, type TypedTime } from './days.ts';

/** Flags for options that are not named after their input member: `{ note: '--reason, --note' }`. */
export type OptionNames = Readonly<Record<string, string>>;

/** Declares a command's options from its action's input, such as `--sign-in <value>` for `sign_in`. */
export function addActionOptions(
  parser: Parser,
  { input }: Pick<ActionKind, 'input'>,
  names: OptionNames = {},
): Parser {
  for (const [name, schema] of Object.entries(input.properties)) {
    const flag = flagOf(name, names);
    const description = isTime(schema)
      ? 'a time, such as "2026-11-22 20:00" or 2026-11-22T13:00Z; 6h is six hours ago'
      : schema.description;
    const option = new Option(schema.type === 'boolean' ? flag : `${flag} <value>`, description ?? '');
    if (schema.enum !== undefined) option.choices(schema.enum.map(String));
    else if (schema.type !== 'boolean') option.argParser(createParser(schema));
    if (input.required?.includes(name) === true) option.makeOptionMandatory();
    parser.addOption(option);
  }
  return parser;
}

function flagOf(name: string, names: OptionNames): string {
  return names[name] ?? `--${name.replaceAll('_', '-')}`;
}

export const isTime = ({ format }: JsonSchema = {}) => format === 'date-time';

function createParser(schema: JsonSchema): (text: string) => string | number | TypedTime {
  const { type, format, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (type === 'integer') return parseInteger(minimum, maximum);
  if (type === 'number') return parseNumber(minimum, maximum);
  if (isTime(schema)) return parseTime;
  return format === 'date' ? parseDay : createTextParser(schema);
}

function createTextParser({ maxLength = 200, pattern = '', description = '' }: JsonSchema): (text: string) => string {
  const parseLine = createLineParser(maxLength);
  return (text) => {
    const line = parseLine(text);
    if (new RegExp(pattern).test(line)) return line;
    throw new InvalidArgumentError(`It must be ${description.charAt(0).toLowerCase()}${description.slice(1)}`);
  };
}

export function readActionInput<Input extends object>(
  { input }: { readonly input: InputSchema } & Partial<ActionKind<Input>>,
  options: Readonly<Record<string, unknown>>,
  names: OptionNames = {},
): Input {
  return Object.fromEntries(
    Object.keys(input.properties).flatMap((name) => {
      const value = options[new Option(flagOf(name, names)).attributeName()];
      return value === undefined ? [] : [[name, value]];
    }),
  ) as Input;
}

/** @param timeZone zone for times that were typed without one */
export async function resolveTimes<Input extends object>(
  host: Pick<Host, 'database' | 'now'>,
  { properties }: InputSchema,
  input: Input,
  timeZone: string,
): Promise<Input> {
  const members = Object.entries(input).map(async ([name, value]) => [
    name,
    isTime(properties[name]) ? new Date(await resolveTime(host, value as TypedTime, timeZone)).toISOString() : value,
  ]);
  return Object.fromEntries(await Promise.all(members)) as Input;
}
