import { type Document, isCollection, isScalar, type Node, Scalar, visit, type YAMLError } from 'yaml';
import { keyLineMistake, lineMistake, slashComment, type Words } from './line-mistake.ts';
import type { TextMistake } from './source-mistakes.ts';

/** Returns the certain errors, and the first of the others, because later ones may be its consequences. */
export function primaryErrors(errors: readonly YAMLError[]): YAMLError[] {
  // Other errors in a file with tabs depend on the intended indentation.
  const tabs = errors.filter(({ code }) => code === 'TAB_AS_INDENT');
  if (tabs.length > 0) return tabs;
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  return errors.filter((error) => error === first || error.pos[0] < (first?.pos[0] ?? Infinity));
}

/** Places a syntax error at the actual mistake, which is not always where the YAML parser reports it. */
export function explainSyntax(error: YAMLError, text: string, document: Document | undefined): TextMistake {
  const { code, message, pos } = error;
  const offset = Math.min(pos[0], text.length);
  if (text.slice(offset - 1, offset + 1) === '${') return at(offset, unquotedVariable);
  if (code === 'TAB_AS_INDENT') return at(offset, ['is indented with a tab', 'use spaces']);
  if (code === 'DUPLICATE_KEY') return at(offset, ['is a duplicate key', 'keep one of them']);
  if (code === 'BAD_ALIAS') return at(offset, unquotedStar);
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const line = lineAt(text, lineStart);
  const lineText = lineStart + (line.length - line.trimStart().length);
  if (/^(- +)?\*/.test(line.trimStart())) return at(text.indexOf('*', lineStart), unquotedStar);
  const comment = slashCommentBefore(text, lineStart);
  if (comment !== undefined) return at(comment, slashComment);
  const quote = openQuote(document, text, offset);
  if (quote !== undefined)
    return at(quote, [`opens a quote (${text[quote]}) that is not closed on its line`, 'close it, or remove it']);
  if (message.startsWith('Flow ')) return unclosed(document, text, offset, message.slice(-1));
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && message.startsWith('Nested mappings'))
    return nested(text, offset, lineStart, line);
  const known = knownMessages.find(([pattern]) => pattern.test(message))?.[1];
  if (known !== undefined) return at(offset, known(text[offset] ?? ''));
  if (isOneOf(code, ['MULTILINE_IMPLICIT_KEY', 'MISSING_CHAR']) || code === 'BAD_INDENT') {
    const words = code === 'BAD_INDENT' ? lineMistake(line) : keyLineMistake(line);
    if (words !== undefined) return at(lineText, words);
  }
  if (code === 'BAD_INDENT' || code === 'BLOCK_AS_IMPLICIT_KEY') return at(lineText, misaligned(line, lineStart, text));
  return at(offset, [
    `is not valid YAML (${message.split('\n')[0]?.replace(/[.;]$/, '')})`,
    'check the line above it too',
  ]);
}

function at(offset: number, [wrong, right]: Words): TextMistake {
  return { offset, wrong, right };
}

const unquotedVariable: Words = ['has an unquoted variable inside braces or brackets', 'put it in quotes: "${NAME}"'];
const unquotedStar: Words = ['begins with *, which refers to an anchor in YAML', 'put it in quotes, such as "*-mini"'];

/** Start of a line with //, at the error or on the line above: the parser fails on the line after it. */
function slashCommentBefore(text: string, lineStart: number): number | undefined {
  const above = text.lastIndexOf('\n', lineStart - 2) + 1;
  for (const start of [above, lineStart]) {
    const [indent] = /^[ \t]*(?=\/\/)/.exec(lineAt(text, start)) ?? [];
    if (indent !== undefined) return start + indent.length;
  }
  return undefined;
}

const knownMessages: readonly (readonly [RegExp, (character: string) => Words])[] = [
  [/^Unexpected flow-(map|seq)-end/, (end) => [`has a ${end} that closes nothing`, 'remove it']],
  [
    /^Invalid escape sequence/,
    () => [
      'has a backslash in double quotes, where it begins an escape sequence',
      'put the value in single quotes, or write \\\\ for each backslash',
    ],
  ],
  [/^Unexpected , in flow/, () => ['has a comma that follows nothing', 'remove one of the commas']],
  [
    /^(Block collections are not allowed within flow|Missing , )/,
    () => ['has no comma between two entries', 'put a comma before the second one'],
  ],
  [
    /^Plain value cannot start with/,
    (start) => [`begins with ${start}, which has a meaning in YAML`, 'put the value in quotes'],
  ],
  [
    /^Unexpected scalar at node end/,
    (rest) =>
      rest === ','
        ? ['ends with a comma, as in JSON', 'remove the comma']
        : ['continues after the closing quote', 'put the whole value in quotes, and write \\" for a quote inside it'],
  ],
];

function nested(text: string, offset: number, lineStart: number, line: string): TextMistake {
  const value = line.slice(offset - lineStart);
  const nextStart = lineStart + line.length + 1;
  const following = /^(?:[ \t]*(?:#.*)?\r?\n)*([ \t]*)\S/.exec(text.slice(nextStart));
  if (/:(\s|$)/.test(value) || following === null)
    return { offset, wrong: 'has a second ": " on one line', right: 'put the value in quotes, or start a new line' };
  return {
    offset: nextStart + following[0].length - 1,
    wrong: 'is indented below a key that already has a value',
    right: 'align it with the line above',
  };
}

/** A list or map in brackets that ends before it is closed: reported at its opening, or at the wrong closing bracket. */
function unclosed(document: Document | undefined, text: string, offset: number, closer: string): TextMistake {
  const found = text[offset] ?? '';
  if (found === ']' || found === '}')
    return {
      offset,
      wrong: `has a ${found} where a ${closer} is expected`,
      right: 'close every [ with ] and every { with }',
    };
  const opener = closer === ']' ? '[' : '{';
  const start = nodesAt(document, offset)
    .filter((node) => isCollection(node) && node.flow === true)
    .map((node) => node.range?.[0] ?? 0)
    .findLast((place) => text[place] === opener);
  return { offset: start ?? offset, wrong: `opens a ${opener} that is not closed`, right: `close it with ${closer}` };
}

function misaligned(line: string, lineStart: number, text: string): Words {
  const previous = lineAt(text, text.lastIndexOf('\n', lineStart - 2) + 1).trimStart();
  if (previous.startsWith('- ') && /^[A-Za-z][\w-]*$/.test(line.trim()))
    return ['has no dash', `write "- ${line.trim()}"`];
  if (/^- [\w-]+:/.test(line)) return ['begins with a dash, but is not in a list', 'remove the dash'];
  return ['has inconsistent indentation', 'align it with its neighbours'];
}

function openQuote(document: Document | undefined, text: string, offset: number): number | undefined {
  return nodesAt(document, offset)
    .filter((node) => isScalar(node) && isOneOf(node.type ?? '', [Scalar.QUOTE_DOUBLE, Scalar.QUOTE_SINGLE]))
    .map((node) => node.range?.[0] ?? 0)
    .findLast((start) => !isClosedOnLine(text, start));
}

function isClosedOnLine(text: string, start: number): boolean {
  const quoted = text[start] === '"' ? /^"(?:[^"\\\n]|\\.)*"/ : /^'(?:[^'\n]|'')*'/;
  return quoted.test(text.slice(start));
}

function nodesAt(document: Document | undefined, offset: number): Node[] {
  const found: Node[] = [];
  visit(document ?? null, {
    Node: (_key, node) => {
      const [start, , end] = node.range ?? [0, 0, 0];
      if (start < offset && offset <= end) found.push(node as Node);
    },
  });
  return found;
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start);
  return text.slice(start, end === -1 ? text.length : end);
}

function isOneOf(text: string, all: readonly string[]): boolean {
  return all.includes(text);
}
