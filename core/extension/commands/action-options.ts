import { type Command as Parser, InvalidArgumentError, Option } from 'commander';
import type { ActionKind, InputSchema } from '#core/business/operator-actions/action-kind.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { lineParser, parseInteger, parseNumber } from './arguments.ts';
import { parseDay } from './days.ts';

/** Flags of options that are not called as their members are: `{ note: '--reason, --note' }`. */
export type OptionNames = Readonly<Record<string, string>>;

/** Declares the options of a command by the input of its action: `--sign-in <value>` for `sign_in`. */
export function addActionOptions(
  parser: Parser,
  { input }: Pick<ActionKind, 'input'>,
  names: OptionNames = {},
): Parser {
  for (const [name, schema] of Object.entries(input.properties)) {
    const flag = flagOf(name, names);
    const option = new Option(schema.type === 'boolean' ? flag : `${flag} <value>`, schema.description ?? '');
    if (schema.enum !== undefined) option.choices(schema.enum.map(String));
    else if (schema.type !== 'boolean') option.argParser(parserOf(schema));
    if (input.required?.includes(name) === true) option.makeOptionMandatory();
    parser.addOption(option);
  }
  return parser;
}

function flagOf(name: string, names: OptionNames): string {
  return names[name] ?? `--${name.replaceAll('_', '-')}`;
}

function parserOf(schema: JsonSchema): (text: string) => string | number {
  const { type, format, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (type === 'integer') return parseInteger(minimum, maximum);
  if (type === 'number') return parseNumber(minimum, maximum);
  return format === 'date' ? parseDay : parseText(schema);
}

function parseText({ maxLength = 200, pattern = '', description = '' }: JsonSchema): (text: string) => string {
  const parseLine = lineParser(maxLength);
  return (text) => {
    const line = parseLine(text);
    if (new RegExp(pattern).test(line)) return line;
    throw new InvalidArgumentError(description);
  };
}

/** The input of an action, out of the options of its command. */
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
