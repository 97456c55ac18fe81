import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import {
  type Document,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  parseAllDocuments,
  Scalar,
  visit,
  type YAMLError,
} from 'yaml';
import { type Interpolated, interpolate } from './interpolate.ts';
import { ConfigError, type Mistake } from './mistake.ts';
import type { YamlPath } from './section.ts';
import { findNode, findOffset, pathInFile, pathOf, pathOfKey } from './yaml-places.ts';

/** gateway.yaml, read and filled in with variables, but not yet checked against any schema. */
export interface GatewayDocument {
  /** Path as given. */
  readonly file: string;
  /** Changes whenever the text or a variable in it does. */
  readonly fingerprint: string;
  /** NODE_ENV is `production`: demos are refused. */
  readonly isProduction: boolean;
  /** Variables that are unset or malformed. They are reported together with the mistakes of validation. */
  readonly mistakes: readonly Mistake[];
  /** The file as plain values, a new copy per call, because validation fills in defaults. */
  values(): Record<string, unknown>;
  /** A mistake with the position of a path, or of its nearest existing ancestor; of the key with `atKey`. */
  mistake(path: YamlPath, wrong: string, right: string, atKey?: boolean): Mistake;
  /** The text of a value with variables, as `${NAME}`, never their values; undefined without variables. */
  written(path: YamlPath): string | undefined;
  /** True for an unquoted value with variables, which may be a number. */
  isLoose(path: YamlPath): boolean;
  /** True for a value with a variable that could not be filled in, so nothing else is reported about it. */
  isUnfilled(path: YamlPath): boolean;
}

/** @throws ConfigError when the file cannot be read or is not valid YAML */
export async function readDocument(file: string, environment: NodeJS.ProcessEnv): Promise<GatewayDocument> {
  return parseDocument(await readText(file), file, environment);
}

/** @throws ConfigError */
export function parseDocument(text: string, file: string, environment: NodeJS.ProcessEnv): GatewayDocument {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const reader = new Reader(file, lines);
  if (!Array.isArray(documents) || documents.length === 0)
    throw new ConfigError([reader.whole('is empty', 'start from the included gateway.yaml')]);
  const [document, second] = documents;
  const mistakes = understandable(documents.flatMap(({ errors }) => errors)).map((error) =>
    reader.syntax(error, text, document),
  );
  if (second !== undefined)
    mistakes.push(reader.at(second.range[0], [], 'has a second document', 'keep one and remove the ---'));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return reader.read(document as Document.Parsed, environment);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const words = unreadable[String(code)] ?? {
      wrong: `cannot be read (${String(code)})`,
      right: 'give the gateway read permission',
    };
    throw new ConfigError([{ file, line: 0, column: 0, path: [], ...words }]);
  }
}

/** Messages for files that cannot be read, by error code. */
const unreadable: Readonly<Record<string, Pick<Mistake, 'wrong' | 'right'>>> = {
  ENOENT: { wrong: 'does not exist', right: 'pass another file with --config FILE' },
  EISDIR: { wrong: 'is a folder', right: 'pass a file with --config FILE' },
};

/** A value with variables, as written in the file. */
interface Written {
  readonly text: string;
  /** Unquoted, so it may be a number. */
  readonly isLoose: boolean;
  readonly filled: Interpolated['filled'];
  readonly isUnfilled: boolean;
}

/** Shorter values are not masked: they would match parts of ordinary words. */
const minSecretLength = 3;

/** Turns offsets into lines, and YAML's errors into our messages. */
class Reader {
  readonly #file: string;
  readonly #lines: LineCounter;

  constructor(file: string, lines: LineCounter) {
    this.#file = file;
    this.#lines = lines;
  }

  at(offset: number, path: YamlPath, wrong: string, right: string): Mistake {
    const { line, col } = this.#lines.linePos(offset);
    return { file: basename(this.#file), line: Math.max(1, line), column: Math.max(1, col), path, wrong, right };
  }

  whole(wrong: string, right: string): Mistake {
    return { file: basename(this.#file), line: 1, column: 1, path: [], wrong, right };
  }

  syntax({ code, message, pos: [offset] }: YAMLError, text: string, document: Document | undefined): Mistake {
    const isVariable = text.slice(offset - 1, offset + 1) === '${';
    const [wrong, right] = isVariable ? unquotedVariable : explainSyntax(code, message);
    return this.at(offset, code === 'DUPLICATE_KEY' ? pathOfKey(document, offset) : [], wrong, right);
  }

  read(document: Document.Parsed, environment: NodeJS.ProcessEnv): GatewayDocument {
    const { contents } = document;
    if (contents === null || (isScalar(contents) && contents.value === null)) {
      throw new ConfigError([this.whole('is empty', 'start from the included gateway.yaml')]);
    }
    if (!isMap(contents))
      throw new ConfigError([this.whole('is not a map', 'write sections such as "models:", each with its content')]);
    const forbidden = [...this.#forbidUnknownTags(document), ...this.#forbidSharing(document)];
    const written = new Map<Node, Written>();
    const mistakes = this.#fillIn(document, environment, written);
    if (forbidden.length > 0) throw new ConfigError([...forbidden, ...mistakes]);
    const text = JSON.stringify(document.toJS());
    const writtenAt = (path: YamlPath) => written.get(findNode(contents, path) as Node);
    return {
      file: this.#file,
      isProduction: environment['NODE_ENV'] === 'production',
      mistakes,
      fingerprint: createHash('sha256').update(text).digest('hex'),
      values: () => document.toJS() as Record<string, unknown>,
      mistake: (path, wrong, right, atKey = false) =>
        this.at(
          findOffset(contents, path, atKey),
          pathInFile(contents, path),
          withoutSecret(wrong, writtenAt(path)),
          right,
        ),
      written: (path) => writtenAt(path)?.text,
      isLoose: (path) => writtenAt(path)?.isLoose === true,
      isUnfilled: (path) => writtenAt(path)?.isUnfilled === true,
    };
  }

  #forbidUnknownTags({ warnings }: Document.Parsed): Mistake[] {
    return warnings
      .filter(({ code }) => code === 'TAG_RESOLVE_FAILED')
      .map(({ pos: [offset] }) => this.at(offset, [], 'has an unknown tag (!)', 'remove the tag'));
  }

  /** Anchors save a few lines and hide what a line does. */
  #forbidSharing(document: Document.Parsed): Mistake[] {
    const mistakes: Mistake[] = [];
    visit(document, {
      Alias: (_key, node, ancestors) => {
        mistakes.push(
          this.at(
            node.range?.[0] ?? 0,
            pathOf(ancestors, node),
            `refers to an anchor (*${node.source})`,
            'write the value out',
          ),
        );
      },
      Node: (_key, node, ancestors) => {
        if (!('anchor' in node) || node.anchor === undefined) return;
        mistakes.push(
          this.at(
            node.range?.[0] ?? 0,
            pathOf(ancestors, node),
            `has an anchor (&${node.anchor})`,
            'remove it and write the value where it is used',
          ),
        );
      },
      Pair: (_key, pair, ancestors) => {
        if (!isScalar(pair.key) || pair.key.value !== '<<') return;
        mistakes.push(
          this.at(
            pair.key.range?.[0] ?? 0,
            pathOf(ancestors, pair.key as Node),
            'merges another map',
            'write the keys out',
          ),
        );
      },
    });
    return mistakes;
  }

  #fillIn(document: Document.Parsed, environment: NodeJS.ProcessEnv, written: Map<Node, Written>): Mistake[] {
    const mistakes: Mistake[] = [];
    visit(document, {
      Scalar: (key, node, ancestors) => {
        if (key === 'key' || typeof node.value !== 'string' || !node.value.includes('$')) return;
        const { value, unknown, malformed, filled } = interpolate(node.value, environment);
        for (const start of malformed) {
          mistakes.push(
            this.at(
              node.range?.[0] ?? 0,
              pathOf(ancestors, node),
              `has "${start}", which is not a valid variable`,
              'write ${NAME} or ${NAME:-default}, or $${ for a literal ${',
            ),
          );
        }
        for (const name of unknown) {
          const wrong = `the variable ${name} is not set`;
          mistakes.push(
            this.at(
              node.range?.[0] ?? 0,
              pathOf(ancestors, node),
              wrong,
              `set it, or give it a default: \${${name}:-…}`,
            ),
          );
        }
        const isUnfilled = unknown.length + malformed.length > 0;
        if (isUnfilled || filled.length > 0)
          written.set(node, { text: node.value, isLoose: node.type === Scalar.PLAIN, filled, isUnfilled });
        node.value = value;
      },
    });
    return mistakes;
  }
}

/** The errors that are certain, and the first of the others, because the rest may follow from it. */
function understandable(errors: readonly YAMLError[]): YAMLError[] {
  const first = errors.find((error) => !isCertain(error));
  return errors.filter((error) => error === first || (isCertain(error) && error.pos[0] < (first?.pos[0] ?? Infinity)));
}

function isCertain({ code }: YAMLError): boolean {
  return code === 'DUPLICATE_KEY' || code === 'TAB_AS_INDENT';
}

/** The braces of a variable inside a flow map or list. */
const unquotedVariable = [
  'has an unquoted variable inside braces or brackets',
  'quote it, or write a number on a separate line',
] as const;

/**
 * Messages quote values. The value of a variable may be a secret, so the message quotes the variable instead, also where a
 * third-party error contains the value without quotes.
 */
function withoutSecret(wrong: string, written: Written | undefined): string {
  if (written === undefined) return wrong;
  const quoted = wrong.replace(/".*"/s, () => JSON.stringify(written.text));
  const secrets = written.filled.filter(({ value }) => value.length >= minSecretLength);
  return secrets
    .toSorted((a, b) => b.value.length - a.value.length)
    .reduce((text, { written: name, value }) => text.replaceAll(value, () => name), quoted);
}

function explainSyntax(code: string, message: string): [string, string] {
  if (code === 'TAB_AS_INDENT') return ['is indented with a tab', 'use spaces'];
  if (code === 'DUPLICATE_KEY') return ['is a duplicate key', 'keep one of them'];
  if (code === 'BAD_ALIAS') return ['refers to an anchor', 'write the value out'];
  if (code === 'BAD_INDENT' && message.startsWith('Flow '))
    return ['comes before an open { or [ is closed', `close it with ${message.slice(-1)}`];
  if (code === 'BLOCK_AS_IMPLICIT_KEY' && message.startsWith('Nested mappings'))
    return ['has a second ": " on one line', 'quote the value, or fix the indentation of the next line'];
  if (code === 'BAD_INDENT' || code === 'BLOCK_AS_IMPLICIT_KEY')
    return ['has inconsistent indentation', 'align it with its neighbours'];
  return [`is not valid YAML (${message.split('\n')[0]?.replace(/[.;]$/, '')})`, 'see the line above it as well'];
}
