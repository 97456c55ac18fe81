import type { Session } from './session.ts';
import type { SyntaxNode as Node } from './tree.ts';
import { collapse, toText } from './values.ts';

/** A text in single quotes, or a here-string of that kind; undefined for one with variables. */
export function literalText(node: Node): string | undefined {
  if (node.text.startsWith("@'")) return node.text.replace(/^@'[ \t]*\n/, '').replace(/\n'@$/, '');
  return node.text.startsWith("'") ? node.text.slice(1, -1).replaceAll("''", "'") : undefined;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0' };
const unescape = (text: string) =>
  text.replaceAll(/`([\s\S])|""/g, (_, letter?: string) => (letter === undefined ? '"' : (escapes[letter] ?? letter)));

/** A text in double quotes: its variables and `$(...)` become texts. */
export function expandString(interpreter: Session, node: Node): string {
  let text = '';
  let at = node.startIndex + 1;
  const between = (end: number) => unescape(node.text.slice(at - node.startIndex, end - node.startIndex));
  for (const child of node.namedChildren) {
    text += between(child.startIndex);
    const value =
      child.type === 'variable'
        ? interpreter.value(child)
        : collapse(interpreter.outputOf(() => interpreter.statements(child)));
    text += toText(value);
    at = child.endIndex;
  }
  return text + between(node.endIndex - 1);
}
