import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Refusal } from '../../../../plugins/setup/script/edit/common.mjs';
import { hasCommand, pathOf } from '../programs.ts';

/** The formats of the editing helper as functions of text, in JavaScript and in Python. */
const sources = join(import.meta.dirname, '../../../../plugins/setup/script/edit');

export type EditFormat = 'json' | 'toml' | 'yaml';
export interface EditOptions {
  readonly identity?: readonly string[];
  readonly at?: string;
  readonly keep?: string;
}

/** One call; an absent file is null. */
export interface EditCall {
  readonly format: EditFormat;
  readonly name: 'merge' | 'remove' | 'missing';
  /** `current, wanted`, and `before` for `remove`. */
  readonly texts: readonly (string | null)[];
  readonly options: EditOptions;
}

/** The returned value, [text, left] for `remove`, or the message of the refusal. */
export type EditResult = { readonly value: unknown } | { readonly refusal: string };

type Text = string | undefined;

/** The module of a format, with the types of its contract. */
export interface EditModule {
  merge(current: Text, wanted: string, options: EditOptions): string;
  remove(current: string, wanted: string, before: Text, options: EditOptions): { text: string; left: string[] };
  missing(current: Text, wanted: string, options: EditOptions): string[];
}

export async function loadFormat(format: EditFormat): Promise<EditModule> {
  return (await import(join(sources, `${format}.mjs`))) as EditModule;
}

export const hasPython = hasCommand('python3');

export function callInJavaScript(module: EditModule, { name, texts, options }: EditCall): EditResult {
  const [current, wanted = '', before] = texts.map((text) => text ?? undefined);
  try {
    if (name === 'merge') return { value: module.merge(current, wanted, options) };
    if (name === 'missing') return { value: module.missing(current, wanted, options) };
    const { text, left } = module.remove(current ?? '', wanted, before, options);
    return { value: [text, left] };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.message };
    throw error;
  }
}

const driver = `
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
from common import Refusal
def call(case):
    function = getattr(importlib.import_module(case["format"] + "_edit"), case["name"])
    try:
        return {"value": function(*case["texts"], case["options"])}
    except Refusal as refusal:
        return {"refusal": str(refusal)}
json.dump([call(case) for case in json.load(sys.stdin)], sys.stdout)
`;

/** All the calls in one process of Python. */
export function callInPython(calls: readonly EditCall[]): EditResult[] {
  const { status, stdout, stderr } = spawnSync(pathOf('python3'), ['-B', '-c', driver, sources], {
    input: JSON.stringify(calls),
    encoding: 'utf8',
    maxBuffer: 1024 ** 3,
    env: { ...process.env, PYTHONIOENCODING: 'utf-8' },
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as EditResult[];
}
