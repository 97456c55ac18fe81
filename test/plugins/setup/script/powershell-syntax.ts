import { createRequire } from 'node:module';
import { Language, type Node, Parser } from 'web-tree-sitter';

let loaded: Promise<Parser> | undefined;

/** Reads PowerShell by a grammar: no PowerShell runs in these tests. */
export async function createParser(): Promise<(text: string) => Node> {
  const parser = await (loaded ??= loadParser());
  return (text) => {
    const tree = parser.parse(text);
    if (tree === null) throw new Error('the grammar gave no tree');
    return tree.rootNode;
  };
}

async function loadParser(): Promise<Parser> {
  const { resolve } = createRequire(import.meta.url);
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(resolve('tree-sitter-powershell/tree-sitter-powershell.wasm')));
  return parser;
}

/** What the grammar cannot read, with its line, counted from 1. */
export function syntaxErrors(node: Node): string[] {
  if (node.isError || node.isMissing) return [`line ${node.startPosition.row + 1}: ${node.text.slice(0, 80)}`];
  return node.hasError ? node.children.flatMap((child) => (child === null ? [] : syntaxErrors(child))) : [];
}

/** All nodes of a type, in the order of the text. */
export function nodesOf(node: Node, ...types: string[]): Node[] {
  return node.descendantsOfType(types).filter((found) => found !== null);
}

export interface PowershellFunction {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly node: Node;
}

export function functionsOf(root: Node): PowershellFunction[] {
  return nodesOf(root, 'function_statement').map((node) => {
    const list = node.namedChildren.find((child) => child?.type === 'function_parameter_declaration');
    const parameters = list ? nodesOf(list, 'script_parameter') : [];
    return {
      name: nodesOf(node, 'function_name')[0]!.text,
      parameters: parameters.map((one) => nodesOf(one, 'variable')[0]!.text.slice(1)),
      node,
    };
  });
}

/** Name and number of arguments of each command, with the names of its parameters. */
export function commandsOf(root: Node) {
  return nodesOf(root, 'command').flatMap((node) => {
    const name = node.childForFieldName('command_name') ?? node.namedChildren[0];
    if (name?.type !== 'command_name') return [];
    const elements = node.namedChildren.find((child) => child?.type === 'command_elements');
    const words =
      elements?.namedChildren.filter((child) => child !== null && child.type !== 'command_argument_sep') ?? [];
    const parameters = words.filter((word) => word?.type === 'command_parameter').map((word) => word!.text);
    return [{ name: name.text, parameters, count: words.length - parameters.length, line: node.startPosition.row + 1 }];
  });
}

/** Names of the variables that a function gives a value to, in lower case. */
export function assignedIn(node: Node): Set<string> {
  const targets = [
    ...nodesOf(node, 'left_assignment_expression'),
    ...nodesOf(node, 'script_parameter'),
    ...nodesOf(node, 'foreach_statement').flatMap((one) =>
      one.namedChildren.filter((child) => child?.type === 'variable'),
    ),
  ];
  const variables = targets.flatMap((target) => (target === null ? [] : nodesOf(target, 'variable')));
  return new Set(variables.map(({ text }) => text.slice(1).toLowerCase()));
}
