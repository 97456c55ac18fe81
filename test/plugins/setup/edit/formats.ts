import { join } from 'node:path';
import { Refusal } from '../../../../plugins/setup/script/edit/common.mjs';

/** The formats that the program edits, as functions of text. */
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
  const loaded = (await import(join(sources, `${format}.mjs`))) as Readonly<Record<string, EditModule>>;
  return loaded[format] as EditModule;
}

export function callFormat(module: EditModule, { name, texts, options }: EditCall): EditResult {
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
