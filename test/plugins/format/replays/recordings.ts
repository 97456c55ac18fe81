import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { JsonObject } from '#core/platform/json.ts';
import type { TextFormat } from '../../../support/formats.ts';
import type { Call, Counts, Finish } from '../../../support/readers/answer.ts';

const root = join(import.meta.dirname, '../../../fixtures/replays');

/** The sidecar of a recording. See test/fixtures/replays/README.md. */
export interface Expected {
  readonly vendor?: string;
  readonly model?: string;
  /** Of the endpoint, beside those of its vendor. */
  readonly quirks?: JsonObject;
  readonly request?: JsonObject;
  readonly source: string;
  readonly oddity?: string;
  readonly text?: string | readonly string[];
  readonly reasoning?: string | readonly string[];
  /** True for a refusal without words, which the gateway finds. */
  readonly refusal?: string | true;
  readonly calls?: readonly Call[];
  readonly citations?: readonly string[];
  readonly images?: readonly string[];
  readonly state?: readonly string[];
  readonly finish?: Finish;
  readonly usage?: Counts;
  readonly error?: 'overloaded' | 'failed';
}

export interface Recording {
  /** `chat/mistral-magistral`. */
  readonly name: string;
  /** Of the vendor; clients do not speak all of them. */
  readonly format: TextFormat | 'ollama';
  readonly stream: Buffer;
  readonly whole: Buffer | undefined;
  readonly expected: Expected;
}

export const recordings: readonly Recording[] = globSync('*/*.{sse,ndjson}', { cwd: root }).toSorted().map(read);

/** A recording as a row of a table of tests, named by its first member. */
export const rowOf = (recording: Recording): [string, Recording] => [recording.name, recording];

function read(file: string): Recording {
  const name = join(dirname(file), basename(file, extname(file)));
  const whole = globSync(`${name}.json`, { cwd: root }).map((found) => readFileSync(join(root, found)));
  return {
    name,
    format: dirname(file) as Recording['format'],
    stream: readFileSync(join(root, file)),
    whole: whole[0],
    expected: JSON.parse(readFileSync(join(root, `${name}.expected.json`), 'utf8')) as Expected,
  };
}
