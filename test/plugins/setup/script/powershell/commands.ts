import { cmdlets } from './cmdlets.ts';
import type { Frame, Session } from './session.ts';
import { nameOf, type SyntaxNode as Node } from './tree.ts';
import { convert, type Value } from './values.ts';

/** Runs a function of the script, a cmdlet or `& { … }` with what a pipeline gives to it. */
export function runCommand(session: Session, node: Node, input: readonly Value[] | undefined): Value[] {
  const elements = (node.child('command_elements')?.namedChildren ?? []).filter(
    (child) => child.type !== 'command_argument_sep',
  );
  const operator = node.child('command_invokation_operator');
  if (operator) return callBlock(session, node.descendants('script_block_expression')[0]!, elements);
  const name = node.namedChildren[0]!.text;
  for (let frame: Frame | undefined = session.frame; frame; frame = frame.parent) {
    const found = frame.functions.get(name.toLowerCase());
    if (found) return callFunction(session, found, elements);
  }
  const cmdlet = cmdlets[name.toLowerCase()];
  if (!cmdlet) throw new Error(`no command ${name}`);
  return cmdlet(session, namedArguments(session, elements), input ?? []);
}

/** Arguments of a cmdlet: those behind a parameter by its name, the others in order. */
function namedArguments(session: Session, elements: readonly Node[]) {
  const named = new Map<string, Value>();
  const positional: Value[] = [];
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index]!;
    if (element.type !== 'command_parameter') positional.push(argumentOf(session, element));
    else {
      const next = elements[index + 1];
      const isSwitch = /^-(Force|All|AsSecureString|Unique|Descending|Off)$/i.test(element.text) || !next;
      named.set(element.text.slice(1).toLowerCase(), isSwitch ? true : argumentOf(session, elements[++index]!));
    }
  }
  return { named, positional };
}

const argumentOf = (session: Session, node: Node): Value =>
  node.type === 'generic_token' ? node.text : (session.valueOf(node) ?? null);

function callFunction(session: Session, node: Node, elements: readonly Node[]): Value[] {
  const given = elements.map((element) => argumentOf(session, element));
  const list = node.child('function_parameter_declaration');
  return session.inFrame(() => {
    (list?.descendants('script_parameter') ?? []).forEach((parameter, index) => {
      const name = nameOf(parameter.child('variable')!);
      const type = parameter.descendants('type_spec')[0]?.text;
      const standard = parameter.child('script_parameter_default');
      const value = index < given.length ? given[index] : standard ? session.value(standard.namedChildren[0]!) : null;
      session.frame.variables.set(name, type ? convert(value, type) : value);
    });
    const body = node.child('script_block');
    return body ? session.runBlock(body) : [];
  });
}

function callBlock(session: Session, block: Node, elements: readonly Node[]): Value[] {
  const given = elements.map((element) => argumentOf(session, element));
  const names = block.descendants('param_block')[0]?.descendants('variable') ?? [];
  return session.inFrame(() => {
    names.forEach((name, index) => session.frame.variables.set(nameOf(name), given[index] ?? null));
    return session.runBlock(block);
  });
}
