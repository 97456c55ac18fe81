import { type Document, isCollection, isScalar, type Node, Scalar, visit, type YAMLError } from 'yaml';
import { findKeyLineMistake, findLineMistake, slashComment, type MistakeText } from './line-mistake.ts';
import type { TextMistake } from './source-mistakes.ts';

/** Returns the errors up to the first one that is not a duplicate key: later errors may only follow from it. */
export function selectPrimaryErrors(errors: readonly YAMLError[]): YAMLError[] {
  // In a file with tabs, the other errors depend on which indentation was meant.
  const tabs = errors.filter(({ code }) => code === 'TAB_AS_INDENT');
  if (tabs.length > 0) return tabs;
  const firstError = errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  return errors.filter((error) => error === firstError || error.pos[0] < (firstError?.pos[0] ?? Infinity));
}

/** Explains a syntax error and locates the actual mistake, which may be elsewhere than the YAML parser says. */
export function explainSyntax(error: YAMLError, text: string, document: Document | undefined): TextMistake {
  const { code, message, pos } = error;
  const offset = Math.min(pos[0], text.length);
  if (text.slice(offset - 1, offset + 1) === '${') return createMistake(offset, unquotedVariable);
  if (code === 'TAB_AS_INDENT') return createMistake(offset, ['is indented with a tab', 'use spaces']);
  if (code === 'DUPLICATE_KEY') return createMistake(offset, ['is a duplicate key', 'keep one of them']);
  if (code === 'BAD_ALIAS') return createMistake(offset, unquotedStar);
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const line = readLine(text, lineStart);
  const textStart = lineStart + (line.length - line.trimStart().length);
  if (/^(- +)?\*/.test(line.trimStart())) return createMistake(text.indexOf('*', lineStart), unquotedStar);
  const commentOffset = findSlashComment(text, lineStart);
  if (commentOffset !== undefined) return createMistake(commentOffset, slashComment);
  const quoteOffset = findOpenQuote(document, text, offset);
  if (quoteOffset !== undefined)
    return createMistake(quoteOffset, [
      `opens a quote (${text[quoteOffset]}) that is not closed on its line`,
      'close it, or remove it',
    ]);
  if (message.startsWith('Flow ')) return explainUnclosed(document, text, offset, message.slice(-1));
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && message.startsWith('Nested mappings'))
    return explainNested(text, offset, lineStart, line);
  const explain = explanations.find(([pattern]) => pattern.test(message))?.[1];
  if (explain !== undefined) return createMistake(offset, explain(text[offset] ?? ''));
  if (isOneOf(code, ['MULTILINE_IMPLICIT_KEY', 'MISSING_CHAR']) || code === 'BAD_INDENT') {
    const words = code === 'BAD_INDENT' ? findLineMistake(line) : findKeyLineMistake(line);
    if (words !== undefined) return createMistake(textStart, words);
  }
  if (code === 'BAD_INDENT' || code === 'BLOCK_AS_IMPLICIT_KEY')
    return createMistake(textStart, explainIndentation(line, lineStart, text));
  return createMistake(offset, [
    `is not valid YAML (${message.split('\n')[0]?.replace(/[.;]$/, '')})`,
    'check the line above it too',
  ]);
}

function createMistake(offset: number, [wrong, right]: MistakeText): TextMistake {
  return { offset, wrong, right };
}

const unquotedVariable: MistakeText = [
  'has an unquoted variable inside braces or brackets',
  'put it in quotes: "${NAME}"',
];
const unquotedStar: MistakeText = [
  'begins with *, which refers to an anchor in YAML',
  'put it in quotes, such as "*-mini"',
];

function findSlashComment(text: string, lineStart: number): number | undefined {
  // The parser fails one line too late.
  const previousStart = text.lastIndexOf('\n', lineStart - 2) + 1;
  for (const start of [previousStart, lineStart]) {
    const [indent] = /^[ \t]*(?=\/\/)/.exec(readLine(text, start)) ?? [];
    if (indent !== undefined) return start + indent.length;
  }
  return undefined;
}

const explanations: readonly (readonly [RegExp, (character: string) => MistakeText])[] = [
  [/^Unexpected flow-(map|seq)-end/, (end) => [`has an unmatched ${end}`, 'remove it']],
  [
    /^Invalid escape sequence/,
    () => [
      'has a backslash in double quotes, where it begins an escape sequence',
      'put the value in single quotes, or write \\\\ for each backslash',
    ],
  ],
  [/^Unexpected , in flow/, () => ['has a comma with nothing before it', 'remove one of the commas']],
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
    (next) =>
      next === ','
        ? ['ends with a comma, as in JSON', 'remove the comma']
        : ['continues after the closing quote', 'put the whole value in quotes, and write \\" for a quote inside it'],
  ],
];

function explainNested(text: string, offset: number, lineStart: number, line: string): TextMistake {
  const value = line.slice(offset - lineStart);
  const nextStart = lineStart + line.length + 1;
  const nextText = /^(?:[ \t]*(?:#.*)?\r?\n)*([ \t]*)\S/.exec(text.slice(nextStart));
  if (/:(\s|$)/.test(value) || nextText === null)
    return { offset, wrong: 'has a second ": " on one line', right: 'put the value in quotes, or start a new line' };
  return {
    offset: nextStart + nextText[0].length - 1,
    wrong: 'is indented below a key that already has a value',
    right: 'align it with the line above',
  };
}

function explainUnclosed(document: Document | undefined, text: string, offset: number, closer: string): TextMistake {
  const bracket = text[offset] ?? '';
  if (bracket === ']' || bracket === '}')
    return {
      offset,
      wrong: `has a ${bracket} where a ${closer} is expected`,
      right: 'close every [ with ] and every { with }',
    };
  const opener = closer === ']' ? '[' : '{';
  const start = findNodesAt(document, offset)
    .filter((node) => isCollection(node) && node.flow === true)
    .map((node) => node.range?.[0] ?? 0)
    .findLast((nodeStart) => text[nodeStart] === opener);
  return { offset: start ?? offset, wrong: `opens a ${opener} that is not closed`, right: `close it with ${closer}` };
}

function explainIndentation(line: string, lineStart: number, text: string): MistakeText {
  const previous = readLine(text, text.lastIndexOf('\n', lineStart - 2) + 1).trimStart();
  if (previous.startsWith('- ') && /^[A-Za-z][\w-]*$/.test(line.trim()))
    return ['has no dash', `write "- ${line.trim()}"`];
  if (/^- [\w-]+:/.test(line)) return ['begins with a dash, but is not in a list', 'remove the dash'];
  return ['has inconsistent indentation', 'align it with its neighbours'];
}

function findOpenQuote(document: Document | undefined, text: string, offset: number): number | undefined {
  return findNodesAt(document, offset)
    .filter((node) => isScalar(node) && isOneOf(node.type ?? '', [Scalar.QUOTE_DOUBLE, Scalar.QUOTE_SINGLE]))
    .map((node) => node.range?.[0] ?? 0)
    .findLast((start) => !isClosedOnLine(text, start));
}

function isClosedOnLine(text: string, start: number): boolean {
  const closedQuote = text[start] === '"' ? /^"(?:[^"\\\n]|\\.)*"/ : /^'(?:[^'\n]|'')*'/;
  return closedQuote.test(text.slice(start));
}

function findNodesAt(document: Document | undefined, offset: number): Node[] {
  const nodes: Node[] = [];
  visit(document ?? null, {
    Node: (_key, node) => {
      const [start, , end] = node.range ?? [0, 0, 0];
      if (start < offset && offset <= end) nodes.push(node);
    },
  });
  return nodes;
}

function readLine(text: string, start: number): string {
  const end = text.indexOf('\n', start);
  return text.slice(start, end === -1 ? text.length : end);
}

function isOneOf(text: string, choices: readonly string[]): boolean {
  return choices.includes(text);
}
