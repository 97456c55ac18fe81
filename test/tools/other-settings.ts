import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';

/** A settings file of a tool that the script has changed, and what must stay in it when the script takes its settings out. */
export interface OtherSettings {
  readonly path: string;
  readonly format: string;
  /** Undefined: nothing, so that the file may go. */
  readonly settings: unknown;
}

type Tree = Readonly<Record<string, unknown>>;

// YAML reads JSON, with YAML comments only; the tools write none.
const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  json: parseYaml,
  toml: parseToml,
  yaml: parseYaml,
};

/**
 * Reads the settings files from what the script keeps about them.
 *
 * @param state the script's folder `setup/files`
 */
export async function readOtherSettings(state: string): Promise<OtherSettings[]> {
  const entries = await readdir(state);
  const all = entries.map(async (entry) => {
    const [path, format, wanted, before] = await Promise.all(
      ['path', 'format', 'wanted', 'before'].map((name) => readText(join(state, entry, name))),
    );
    return { path: String(path?.trimEnd()), format: String(format?.trimEnd()), wanted, before };
  });
  const files = (await Promise.all(all)).filter(({ format }) => format in parsers);
  return Promise.all(
    files.map(async ({ path, format, wanted, before }) => {
      const parsed = [await readText(path), wanted, before].map((text) => parseSettings(format, text));
      return { path, format, settings: without(parsed[0], parsed[1], parsed[2]) };
    }),
  );
}

/** The fault in a file after its settings were taken out; undefined when it holds exactly the others. */
export async function findLoss({ path, format, settings }: OtherSettings): Promise<string | undefined> {
  const text = await readText(path);
  try {
    const left = parseSettings(format, text);
    if (isDeepStrictEqual(plain(left), plain(settings))) return undefined;
    return `${path} has ${JSON.stringify(left)} instead of ${JSON.stringify(settings)}`;
  } catch (error) {
    return `${path} cannot be read: ${String(error)}`;
  }
}

export async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

function parseSettings(format: string, text: string | undefined): unknown {
  return text === undefined || text.trim() === '' ? undefined : parsers[format]?.(text);
}

/** `current` without what is in `wanted`; what stood there before is back. */
function without(current: unknown, wanted: unknown, before: unknown): unknown {
  if (isDeepStrictEqual(current, wanted) || (isTime(current) && isTime(wanted))) return before;
  if (isTree(current) && isTree(wanted)) {
    const earlier = isTree(before) ? before : {};
    const members = Object.entries(current).map(([name, value]) =>
      name in wanted ? [name, without(value, wanted[name], earlier[name])] : [name, value],
    );
    const left = members.filter(([, value]) => value !== undefined);
    return left.length === 0 ? before : Object.fromEntries(left);
  }
  if (!Array.isArray(current) || !Array.isArray(wanted)) return current;
  const left = current.filter((entry) => !wanted.some((one) => isDeepStrictEqual(entry, one)));
  return left.length === 0 ? before : left;
}

/** Tools renew times, such as that of the last change. */
function isTime(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value without the prototypes that parsers set. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
