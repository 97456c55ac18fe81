import { Composer, type Document, isScalar, Lexer, type LineCounter, Parser, visit, YAMLParseError } from 'yaml';

/** Lexemes of one step, some milliseconds. */
const stepLength = 4_000;

/**
 * Parses YAML in steps, so that a file of thousands of models keeps the event loop for one of them only.
 *
 * The library compares each key of a map with all keys before it, three seconds for 10,000 models: it is told not to, and
 * duplicates are found here.
 */
export function* parseYaml(text: string, lines: LineCounter): Generator<undefined, Document.Parsed[]> {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({ lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const documents: Document.Parsed[] = [];
  let lexemes = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    if (++lexemes % stepLength === 0) yield;
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end());
  yield;
  for (const document of documents) document.errors.push(...findDuplicates(document));
  return documents;
}

/** Keys that a map has already, as the errors that the library makes of them. */
function findDuplicates(document: Document.Parsed): YAMLParseError[] {
  const found: YAMLParseError[] = [];
  visit(document, {
    Map: (_key, { items }) => {
      const known = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const [start = 0] = key.range ?? [];
        if (known.has(key.value))
          found.push(new YAMLParseError([start, start + 1], 'DUPLICATE_KEY', 'Map keys must be unique'));
        known.add(key.value);
      }
    },
  });
  return found;
}
