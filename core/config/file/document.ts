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
import { runInTurns, runToEnd } from '#core/platform/timing/turn.ts';
import type { YamlPath } from '../section.ts';
import { findDottedNumbers } from './dotted-numbers.ts';
import { explainSyntax, selectPrimaryErrors } from './explain-syntax.ts';
import { hideVariables } from './hide-secrets.ts';
import { type Interpolated, interpolate, findProgramVariable } from './interpolate.ts';
import { ConfigError, type Mistake } from './mistake.ts';
import { readText } from './read-text.ts';
import { findRefusedYaml } from './refused-yaml.ts';
import { readSecretFile, type SecretFile, resolveSecretPath } from './secret-file.ts';
import { findSourceMistakes, type TextMistake } from './source-mistakes.ts';
import { findNode, findOffset, normalizePath, readPath, findPathOfKey } from './yaml-places.ts';

/** gateway.yaml, parsed, with its variables expanded, but not yet validated. */
export interface GatewayDocument {
  readonly file: string; // path, as the caller passed it
  readonly fingerprint: string; // digest of the values, including those of variables
  readonly isProduction: boolean; // NODE_ENV is `production`, so demos are refused
  readonly hasRedis: boolean; // REDIS_URL is set, so several processes can share limits, cache and queues
  /** Variables that are unset or malformed. They are reported together with the mistakes that validation finds. */
  readonly mistakes: readonly Mistake[];
  readonly source: string; // the file's text
  readonly secretFiles: readonly string[]; // absolute paths, including those of files that do not exist
  /** Returns a new copy of the values each time, because validation fills in defaults. */
  values(): Record<string, unknown>;
  /** Creates a mistake, located at the value of a path (with `atKey`, at its key) or at its nearest ancestor that exists. */
  createMistake(path: YamlPath, wrong: string, right: string, atKey?: boolean): Mistake;
  /** Returns a value's text with the variables as written, `${NAME}`; undefined if it contains none. */
  findVariableText(path: YamlPath): string | undefined;
  /** Lists the values without variables at and below a path, with their offsets in the text. */
  listLiterals(path: YamlPath): { readonly value: string; readonly start: number; readonly end: number }[];
  /** Returns true if the value contains a variable that is set to the empty string. */
  hasEmptyVariable(path: YamlPath): boolean;
  /** Returns true if the value is in the file, false if it is a default. */
  contains(path: YamlPath): boolean;
  /** Returns true for a number whose dot may separate thousands, such as 41.250. */
  readonly hasThousandsDot: (path: YamlPath) => boolean;
  /** Returns true if the value contains a variable that could not be filled in. No other mistakes are reported for such a value. */
  hasUnfilledVariable(path: YamlPath): boolean;
}

/** @throws ConfigError if the file cannot be read or is not valid YAML */
export async function readDocument(file: string, environment: NodeJS.ProcessEnv): Promise<GatewayDocument> {
  return runInTurns(parseInSteps(await readText(file), file, environment));
}

/** @throws ConfigError if the text is not valid YAML */
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
  if (documents.length === 0)
    throw new ConfigError([reader.createFileMistake('is empty', 'start from the included gateway.yaml')]);
  const [document, secondDocument] = documents;
  const sourceMistakes = findSourceMistakes(text).map((mistake) => reader.createMistake(mistake));
  if (sourceMistakes.length > 0) throw new ConfigError(sourceMistakes);
  const mistakes = selectPrimaryErrors(documents.flatMap(({ errors }) => errors)).map((error) =>
    reader.explainError(error, text, document),
  );
  if (secondDocument !== undefined)
    mistakes.push(
      reader.createMistake({
        offset: secondDocument.range[0],
        wrong: 'has a second document',
        right: 'keep one and remove the ---',
      }),
    );
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  const parsed = document as Document.Parsed;
  const refusedMistakes = findRefusedYaml(parsed, text).map((mistake) => reader.createMistake(mistake, mistake.path));
  yield;
  return yield* reader.readContents(parsed, text, refusedMistakes, environment);
}

class DuplicateKey extends YAMLParseError {
  readonly firstOffset: number;

  constructor(offset: number, firstOffset: number) {
    super([offset, offset + 1], 'DUPLICATE_KEY', 'Map keys must be unique');
    this.firstOffset = firstOffset;
  }
}

interface VariableText {
  readonly text: string;
  readonly filled: Interpolated['variables'];
  readonly hasUnfilled: boolean;
}

class Reader {
  readonly #file: string;
  readonly #lines: LineCounter;

  constructor(file: string, lines: LineCounter) {
    this.#file = file;
    this.#lines = lines;
  }

  createMistake({ offset, wrong, right }: TextMistake, path: YamlPath = []): Mistake {
    const { line, col } = this.#lines.linePos(offset);
    return { file: basename(this.#file), line: Math.max(1, line), column: Math.max(1, col), path, wrong, right };
  }

  createFileMistake(wrong: string, right: string): Mistake {
    return { file: basename(this.#file), line: 1, column: 1, path: [], wrong, right };
  }

  explainError(error: YAMLError, text: string, document: Document | undefined): Mistake {
    const mistake = explainSyntax(error, text, document);
    if (error instanceof DuplicateKey)
      return this.createMistake(
        { ...mistake, wrong: `${mistake.wrong}: the other is on line ${this.#lines.linePos(error.firstOffset).line}` },
        findPathOfKey(document, mistake.offset),
      );
    return this.createMistake(mistake);
  }

  *readContents(
    document: Document.Parsed,
    source: string,
    refused: readonly Mistake[],
    environment: NodeJS.ProcessEnv,
  ): Generator<undefined, GatewayDocument> {
    const { contents } = document;
    if (contents === null || (isScalar(contents) && contents.value === null)) {
      throw new ConfigError([this.createFileMistake('is empty', 'start from the included gateway.yaml')]);
    }
    if (!isMap(contents))
      throw new ConfigError([
        this.createFileMistake('is not a map', 'write sections such as "models:", each with its content'),
      ]);
    const variableTexts = new Map<Node, VariableText>();
    const secretFiles = new Set<string>();
    const readSecret = (path: string) => {
      secretFiles.add(resolveSecretPath(path, this.#file));
      return readSecretFile(path, this.#file);
    };
    const mistakes = this.#fillIn(document, environment, variableTexts, readSecret);
    if (refused.length > 0) throw new ConfigError([...refused, ...mistakes]);
    yield;
    const valuesText = JSON.stringify(document.toJS());
    const findVariableText = (path: YamlPath) => variableTexts.get(findNode(contents, path) as Node);
    return {
      file: this.#file,
      isProduction: environment['NODE_ENV'] === 'production',
      hasRedis: Boolean(environment['REDIS_URL']),
      mistakes,
      fingerprint: createHash('sha256').update(valuesText).digest('hex'),
      source,
      secretFiles: [...secretFiles],
      values: () => document.toJS() as Record<string, unknown>,
      listLiterals: (path) => collectLiterals(findNode(contents, path), variableTexts),
      createMistake: (path, wrong, right, atKey = false) =>
        this.createMistake(
          { offset: findOffset(contents, path, atKey), wrong: maskVariables(wrong, findVariableText(path)), right },
          normalizePath(contents, path),
        ),
      findVariableText: (path) => findVariableText(path)?.text,
      hasEmptyVariable: (path) => findVariableText(path)?.filled.some(({ value }) => value === '') === true,
      hasThousandsDot: findDottedNumbers(contents, source),
      contains: (path) => findNode(contents, path) !== undefined,
      hasUnfilledVariable: (path) => findVariableText(path)?.hasUnfilled === true,
    };
  }

  #fillIn(
    document: Document.Parsed,
    environment: NodeJS.ProcessEnv,
    variableTexts: Map<Node, VariableText>,
    readSecret: (path: string) => SecretFile,
  ): Mistake[] {
    const mistakes: Mistake[] = [];
    visit(document, {
      Scalar: (key, node, ancestors) => {
        if (key === 'key' || typeof node.value !== 'string') return;
        const report = (wrong: string, right: string, isTransient = false) => {
          const mistake = this.createMistake({ offset: node.range?.[0] ?? 0, wrong, right }, readPath(ancestors, node));
          mistakes.push(isTransient ? { ...mistake, isTransient } : mistake);
        };
        const programVariable = findProgramVariable(node.value);
        if (programVariable !== undefined) {
          report('uses the variable syntax of a programming language', `write "\${${programVariable}}"`);
          variableTexts.set(node, { text: node.value, filled: [], hasUnfilled: true });
        }
        if (!node.value.includes('$')) return;
        const { value, unsetNames, malformedStarts, unusableFiles, variables } = interpolate(
          node.value,
          environment,
          readSecret,
        );
        for (const start of malformedStarts)
          report(
            `has "${start}", which is not a valid variable`,
            'write ${NAME}, ${NAME:-default} or ${file:/path}, or $${ for a literal ${',
          );
        for (const name of unsetNames)
          report(
            `the variable ${name} is not set`,
            /KEY|SECRET|PASSWORD|TOKEN/.test(name)
              ? 'set it, in .env beside gateway.yaml or in the environment'
              : `set it, or give it a default: \${${name}:-…}`,
          );
        // A missing file may appear later: the service that provides the secrets may still be starting.
        for (const { wrong, right, isMissing } of unusableFiles) report(wrong, right, isMissing);
        const hasUnfilled = unsetNames.length + malformedStarts.length + unusableFiles.length > 0;
        if (hasUnfilled || variables.length > 0)
          variableTexts.set(node, { text: node.value, filled: variables, hasUnfilled });
        node.value = value;
      },
    });
    return mistakes;
  }
}

function collectLiterals(
  node: Node | undefined,
  variableTexts: ReadonlyMap<Node, VariableText>,
): ReturnType<GatewayDocument['listLiterals']> {
  const literals: ReturnType<GatewayDocument['listLiterals']> = [];
  visit(node ?? null, {
    Scalar: (key, scalar) => {
      const [start, end] = scalar.range ?? [];
      if (
        key === 'key' ||
        start === undefined ||
        end === undefined ||
        variableTexts.has(scalar) ||
        scalar.value === null
      )
        return;
      literals.push({ value: String(scalar.value), start, end });
    },
  });
  return literals;
}

function maskVariables(message: string, variableText: VariableText | undefined): string {
  return variableText === undefined ? message : hideVariables(message, variableText.text, variableText.filled);
}

const lexemesPerStep = 4_000;

/**
 * Parses YAML in steps, so that a file with thousands of models blocks the event loop for no longer than one step.
 *
 * The library compares each key of a map with all earlier ones, which takes three seconds for 10,000 models. That check is disabled, and
 * duplicates are found here instead.
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
  for (const document of documents) document.errors.push(...findDuplicateKeys(document));
  return documents;
}

function findDuplicateKeys(document: Document.Parsed): YAMLParseError[] {
  const errors: YAMLParseError[] = [];
  visit(document, {
    Map: (_key, { items }) => {
      const offsetByKey = new Map<unknown, number>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const [offset = 0] = key.range ?? [];
        const firstOffset = offsetByKey.get(key.value);
        if (firstOffset === undefined) offsetByKey.set(key.value, offset);
        else errors.push(new DuplicateKey(offset, firstOffset));
      }
    },
  });
  return errors;
}
