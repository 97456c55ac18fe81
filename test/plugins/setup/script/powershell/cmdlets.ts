import { construct } from './objects.ts';
import type { Session } from './session.ts';
import { enumerate, isTrue, NetObject, type ScriptBlock, Table, throwNet, toText, type Value } from './values.ts';

interface Arguments {
  readonly named: ReadonlyMap<string, Value>;
  readonly positional: readonly Value[];
}
type Cmdlet = (interpreter: Session, given: Arguments, input: readonly Value[]) => Value[];

/** The commands that setup.ps1 uses, by their names in lower case. */
export const cmdlets: Readonly<Record<string, Cmdlet>> = {
  'convertfrom-json': (_, { positional }) => {
    try {
      return [fromJson(JSON.parse(toText(positional[0])))];
    } catch {
      return throwNet('ArgumentException', 'Invalid JSON primitive.');
    }
  },
  'foreach-object': (interpreter, { positional }, input) =>
    input.flatMap((value) => interpreter.runFor(value, positional[0] as ScriptBlock)),
  'where-object': (interpreter, { positional }, input) =>
    input.filter((value) => isTrue(interpreter.runFor(value, positional[0] as ScriptBlock))),
  'get-command': ({ machine }, { named }) =>
    (machine.programs.get(toText(named.get('name'))) ?? []).map(
      (path) => new NetObject('ApplicationInfo', { Source: path }),
    ),
  'get-item': ({ machine }, { named }) => {
    const item = machine.describe(toText(named.get('literalpath')));
    if (item) return [item];
    return named.get('erroraction') === 'SilentlyContinue' ? [] : throwNet('ItemNotFoundException', 'Cannot find path');
  },
  'new-object': (interpreter, { positional: [type, args] }) => [
    construct(interpreter.machine, toText(type), args === undefined ? [] : enumerate(args)),
  ],
  'read-host': ({ machine }, { named, positional }) => {
    const answer = machine.answers.shift();
    if (answer === undefined) throwNet('PSInvalidOperationException', 'PowerShell is in NonInteractive mode.');
    machine.print(`${toText(positional[0])}: ${named.get('assecurestring') ? '***' : answer}`);
    return [named.get('assecurestring') ? new NetObject('SecureString', { text: answer }) : answer];
  },
  'select-object': (_, __, input) => [...new Set(input)],
  'set-strictmode': () => [],
  'sort-object': (_, { named }, input) => {
    const sorted = input.toSorted((left, right) => Number(left) - Number(right));
    return named.get('descending') ? sorted.toReversed() : sorted;
  },
  'start-sleep': () => [],
  'write-host': ({ machine }, { positional }) => {
    machine.print(toText(positional[0]));
    return [];
  },
  'write-verbose': () => [],
};

export function fromJson(value: unknown): Value {
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value !== 'object' || value === null) return value;
  const table = new Table('object');
  for (const [key, inner] of Object.entries(value)) table.set(key, fromJson(inner));
  return table;
}
