import { type Command as Parser, Option } from 'commander';
import type { ActionWords, ActionKind } from '#core/business/operator-actions/actions.ts';
import { parseInteger, parseLine } from './arguments.ts';

/** Declares the options of a command by the input of its action: `--sign-in <value>` for `sign_in`. */
export function addActionOptions(parser: Parser, { input }: ActionKind): Parser {
  for (const [name, { type, description = '', minimum, maximum }] of Object.entries(input.properties)) {
    const flag = `--${name.replaceAll('_', '-')}`;
    const option = new Option(type === 'boolean' ? flag : `${flag} <value>`, description);
    if (type === 'integer') option.argParser(parseInteger(minimum ?? 0, maximum ?? Number.MAX_SAFE_INTEGER));
    else if (type === 'string') option.argParser(parseLine);
    if (input.required?.includes(name) === true) option.makeOptionMandatory();
    parser.addOption(option);
  }
  return parser;
}

const camel = (name: string) => name.replace(/_(\w)/g, (_whole, letter: string) => letter.toUpperCase());

/** The input of an action, out of the options of its command. */
export function readActionInput({ input }: ActionKind, options: Readonly<Record<string, unknown>>): ActionWords {
  return Object.fromEntries(
    Object.keys(input.properties).flatMap((name) => {
      const value = options[camel(name)];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
