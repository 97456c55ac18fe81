import { type Command as Parser, InvalidArgumentError, Option } from 'commander';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { lineParser, parseInteger } from './arguments.ts';

/** Declares the options of a command by the input of its action: `--sign-in <value>` for `sign_in`. */
export function addActionOptions(parser: Parser, { input }: Pick<ActionKind, 'input'>): Parser {
  for (const [name, schema] of Object.entries(input.properties)) {
    const { type, description = '', minimum, maximum } = schema;
    const flag = `--${name.replaceAll('_', '-')}`;
    const option = new Option(type === 'boolean' ? flag : `${flag} <value>`, description);
    if (schema.enum !== undefined) option.choices(schema.enum.map(String));
    else if (type === 'integer') option.argParser(parseInteger(minimum ?? 0, maximum ?? Number.MAX_SAFE_INTEGER));
    else if (type === 'string') option.argParser(parseText(schema));
    if (input.required?.includes(name) === true) option.makeOptionMandatory();
    parser.addOption(option);
  }
  return parser;
}

/** @returns a parser for one line that the schema allows */
function parseText({ maxLength = 200, pattern = '', description = '' }: JsonSchema): (text: string) => string {
  const parseLine = lineParser(maxLength);
  return (text) => {
    const line = parseLine(text);
    if (new RegExp(pattern).test(line)) return line;
    throw new InvalidArgumentError(description);
  };
}

const camel = (name: string) => name.replace(/_(\w)/g, (_whole, letter: string) => letter.toUpperCase());

/** The input of an action, out of the options of its command. */
export function readActionInput<Input extends object>(
  { input }: ActionKind<Input>,
  options: Readonly<Record<string, unknown>>,
): Input {
  return Object.fromEntries(
    Object.keys(input.properties).flatMap((name) => {
      const value = options[camel(name)];
      return value === undefined ? [] : [[name, value]];
    }),
  ) as Input;
}
