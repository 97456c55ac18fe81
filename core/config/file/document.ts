import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import {
  type Document,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  visit,
  type YAMLError,
  Composer,
  Lexer,
  Parser,
  YAMLParseError,
} from 'yaml';
import { findDottedNumbers } from './dotted-numbers.ts';
import { explainSyntax, primaryErrors } from './explain-syntax.ts';
import { hideVariables } from './hide-secrets.ts';
import { type Interpolated, interpolate, variableOfProgram } from './interpolate.ts';
import { ConfigError, type Mistake } from './mistake.ts';
import { runInTurns, runToEnd } from '#core/platform/timing/turn.ts';
import { readText } from './read-text.ts';
import { findRefusedYaml } from './refused-yaml.ts';
import { readSecretFile, type SecretFile, secretPath } from './secret-file.ts';
import type { YamlPath } from '../section.ts';
import { findSourceMistakes, type TextMistake } from './source-mistakes.ts';
import { findNode, findOffset, pathInFile, pathOf, pathOfKey } from './yaml-places.ts';

/** gateway.yaml, parsed and with variables filled in, but not yet validated. */
export interface GatewayDocument {
  /** Path as given. */
  readonly file: string;
  /** Changes whenever the text or one of its variables changes. */
  readonly fingerprint: string;
  /** True if NODE_ENV is `production`, so that demos are refused. */
  readonly isProduction: boolean;
  /** True if REDIS_URL is set, so that several processes share limits, cache and queues. */
  readonly hasRedis: boolean;
  /** Variables that are unset or malformed. They are reported together with the mistakes of validation. */
  readonly mistakes: readonly Mistake[];
  /** The text of the file. */
  readonly source: string;
  /** Absolute paths of the secret files, including missing ones. */
  readonly secretFiles: readonly string[];
  /** The file as plain values, a new copy per call, because validation fills in defaults. */
  values(): Record<string, unknown>;
  /** A mistake with the position of a path, or of its nearest existing ancestor; of the key with `atKey`. */
  mistake(path: YamlPath, wrong: string, right: string, atKey?: boolean): Mistake;
  /** The text of a value with variables, as `${NAME}`, never their values; undefined without variables. */
  written(path: YamlPath): string | undefined;
  /** Values without variables at a path and inside it, with their offsets in the text. */
  literals(path: YamlPath): { readonly value: string; readonly begin: number; readonly end: number }[];
  /** True for a value with a variable that is set to the empty string. */
  isEmptied(path: YamlPath): boolean;
  /** True for a value that is in the file, not filled in from a default. */
  contains(path: YamlPath): boolean;
  /** True for a number that may have a dot between thousands, such as 41.250. */
  readonly isDotted: (path: YamlPath) => boolean;
  /** True for a value with a variable that could not be filled in, so no other mistakes are reported for it. */
  isUnfilled(path: YamlPath): boolean;
}

/**
 * Reads and parses gateway.yaml.
 *
 * @throws ConfigError if the file cannot be read or is not valid YAML
 */
export async function readDocument(file: string, environment: NodeJS.ProcessEnv): Promise<GatewayDocument> {
  return runInTurns(parseInSteps(await readText(file), file, environment));
}

/**
 * Parses the text of gateway.yaml.
 *
 * @throws ConfigError
 */
export function parseDocument(text: string, file: string, environment: NodeJS.ProcessEnv): GatewayDocument {
  return runToEnd(parseInSteps(text, file, environment));
}

function* parseInSteps(
  text: string,
  file: string,
  environment: NodeJS.ProcessEnv,
): Generator<undefined, GatewayDocument> {
  const lines = new LineCounter();
  const documents = yield* parseYaml(text, lines);
  yield;
  const reader = new Reader(file, lines);
  if (documents.length === 0) throw new ConfigError([reader.whole('is empty', 'start from the included gateway.yaml')]);
  const [document, second] = documents;
  const inSource = findSourceMistakes(text).map((mistake) => reader.at(mistake));
  if (inSource.length > 0) throw new ConfigError(inSource);
  const mistakes = primaryErrors(documents.flatMap(({ errors }) => errors)).map((error) =>
    reader.syntax(error, text, document),
  );
  if (second !== undefined)
    mistakes.push(
      reader.at({ offset: second.range[0], wrong: 'has a second document', right: 'keep one and remove the ---' }),
    );
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  const parsed = document as Document.Parsed;
  const refused = findRefusedYaml(parsed, text).map((mistake) => reader.at(mistake, mistake.path));
  yield;
  return yield* reader.read(parsed, text, refused, environment);
}

interface Written {
  readonly text: string;
  readonly filled: Interpolated['filled'];
  readonly isUnfilled: boolean;
}

class Reader {
  readonly #file: string;
  readonly #lines: LineCounter;

  constructor(file: string, lines: LineCounter) {
    this.#file = file;
    this.#lines = lines;
  }

  at({ offset, wrong, right }: TextMistake, path: YamlPath = []): Mistake {
    const { line, col } = this.#lines.linePos(offset);
    return { file: basename(this.#file), line: Math.max(1, line), column: Math.max(1, col), path, wrong, right };
  }

  whole(wrong: string, right: string): Mistake {
    return { file: basename(this.#file), line: 1, column: 1, path: [], wrong, right };
  }

  syntax(error: YAMLError, text: string, document: Document | undefined): Mistake {
    const mistake = explainSyntax(error, text, document);
    if (error instanceof DuplicateKey)
      return this.at(
        { ...mistake, wrong: `${mistake.wrong}: the other is in line ${this.#lines.linePos(error.first).line}` },
        pathOfKey(document, mistake.offset),
      );
    return this.at(mistake);
  }

  *read(
    document: Document.Parsed,
    source: string,
    refused: readonly Mistake[],
    environment: NodeJS.ProcessEnv,
  ): Generator<undefined, GatewayDocument> {
    const { contents } = document;
    if (contents === null || (isScalar(contents) && contents.value === null)) {
      throw new ConfigError([this.whole('is empty', 'start from the included gateway.yaml')]);
    }
    if (!isMap(contents))
      throw new ConfigError([this.whole('is not a map', 'write sections such as "models:", each with its content')]);
    const written = new Map<Node, Written>();
    const secretFiles = new Set<string>();
    const readSecret = (path: string) => {
      secretFiles.add(secretPath(path, this.#file));
      return readSecretFile(path, this.#file);
    };
    const mistakes = this.#fillIn(document, environment, written, readSecret);
    if (refused.length > 0) throw new ConfigError([...refused, ...mistakes]);
    yield;
    const text = JSON.stringify(document.toJS());
    const writtenAt = (path: YamlPath) => written.get(findNode(contents, path) as Node);
    return {
      file: this.#file,
      isProduction: environment['NODE_ENV'] === 'production',
      hasRedis: Boolean(environment['REDIS_URL']),
      mistakes,
      fingerprint: createHash('sha256').update(text).digest('hex'),
      source,
      secretFiles: [...secretFiles],
      values: () => document.toJS() as Record<string, unknown>,
      literals: (path) => literalsIn(findNode(contents, path), written),
      mistake: (path, wrong, right, atKey = false) =>
        this.at(
          { offset: findOffset(contents, path, atKey), wrong: withoutVariables(wrong, writtenAt(path)), right },
          pathInFile(contents, path),
        ),
      written: (path) => writtenAt(path)?.text,
      isEmptied: (path) => writtenAt(path)?.filled.some(({ value }) => value === '') === true,
      isDotted: findDottedNumbers(contents, source),
      contains: (path) => findNode(contents, path) !== undefined,
      isUnfilled: (path) => writtenAt(path)?.isUnfilled === true,
    };
  }

  #fillIn(
    document: Document.Parsed,
    environment: NodeJS.ProcessEnv,
    written: Map<Node, Written>,
    readSecret: (path: string) => SecretFile,
  ): Mistake[] {
    const mistakes: Mistake[] = [];
    visit(document, {
      Scalar: (key, node, ancestors) => {
        if (key === 'key' || typeof node.value !== 'string') return;
        const report = (wrong: string, right: string, isTransient = false) => {
          const mistake = this.at({ offset: node.range?.[0] ?? 0, wrong, right }, pathOf(ancestors, node));
          mistakes.push(isTransient ? { ...mistake, isTransient } : mistake);
        };
        const foreign = variableOfProgram(node.value);
        if (foreign !== undefined) {
          report('is a variable in the notation of a program', `write "\${${foreign}}"`);
          written.set(node, { text: node.value, filled: [], isUnfilled: true });
        }
        if (!node.value.includes('$')) return;
        const { value, unknown, malformed, unreadable, filled } = interpolate(node.value, environment, readSecret);
        for (const start of malformed)
          report(
            `has "${start}", which is not a valid variable`,
            'write ${NAME}, ${NAME:-default} or ${file:/path}, or $${ for a literal ${',
          );
        for (const name of unknown)
          report(
            `the variable ${name} is not set`,
            /KEY|SECRET|PASSWORD|TOKEN/.test(name)
              ? 'set it, in .env beside gateway.yaml or in the environment'
              : `set it, or give it a default: \${${name}:-…}`,
          );
        // The provider of secrets may still be starting.
        for (const { wrong, right, isMissing } of unreadable) report(wrong, right, isMissing);
        const isUnfilled = unknown.length + malformed.length + unreadable.length > 0;
        if (isUnfilled || filled.length > 0) written.set(node, { text: node.value, filled, isUnfilled });
        node.value = value;
      },
    });
    return mistakes;
  }
}

function literalsIn(
  node: Node | undefined,
  written: ReadonlyMap<Node, Written>,
): ReturnType<GatewayDocument['literals']> {
  const found: ReturnType<GatewayDocument['literals']> = [];
  visit(node ?? null, {
    Scalar: (key, scalar) => {
      const [begin, end] = scalar.range ?? [];
      if (key === 'key' || begin === undefined || end === undefined || written.has(scalar) || scalar.value === null)
        return;
      found.push({ value: String(scalar.value), begin, end });
    },
  });
  return found;
}

function withoutVariables(words: string, written: Written | undefined): string {
  return written === undefined ? words : hideVariables(words, written.text, written.filled);
}

const lexemesPerStep = 4_000;

/**
 * Parses YAML in steps, so that a file of thousands of models never blocks the event loop for more than one of them.
 *
 * The library compares each key of a map with all keys before it, three seconds for 10,000 models: that check is turned off, and
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
    if (++lexemes % lexemesPerStep === 0) yield;
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end());
  yield;
  for (const document of documents) document.errors.push(...findDuplicates(document));
  return documents;
}

class DuplicateKey extends YAMLParseError {
  readonly first: number;

  constructor(offset: number, first: number) {
    super([offset, offset + 1], 'DUPLICATE_KEY', 'Map keys must be unique');
    this.first = first;
  }
}

/** Finds duplicate keys, reported as the library's own errors. */
function findDuplicates(document: Document.Parsed): YAMLParseError[] {
  const found: YAMLParseError[] = [];
  visit(document, {
    Map: (_key, { items }) => {
      const known = new Map<unknown, number>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const [start = 0] = key.range ?? [];
        const first = known.get(key.value);
        if (first === undefined) known.set(key.value, start);
        else found.push(new DuplicateKey(start, first));
      }
    },
  });
  return found;
}
