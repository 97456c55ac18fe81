/** What is deleted along with a capability, and which resulting failures are expected. */

/** A capability of `.ci/deletion.yaml`. */
export interface Capability {
  readonly name: string;
  /** Existing files and folders to delete, relative to the root. Undefined if the capability is not a single folder. */
  readonly of: readonly string[] | undefined;
  /** Paths in gateway.yaml to remove. */
  readonly lines: readonly (readonly string[])[];
  /** Expected failures, by stage. */
  readonly expected: Readonly<Record<string, readonly string[]>>;
}

interface CapabilityEntry {
  readonly of?: readonly string[];
  readonly lines?: readonly (readonly string[])[];
  readonly expected?: Readonly<Record<string, readonly string[]>>;
}

/** The table in `.ci/deletion.yaml`: rows by plugin name, and the plugins that cannot be deleted. */
export type DeletionTable = Readonly<Record<string, CapabilityEntry | string>> & { readonly kept: readonly string[] };

/** Returns the names of the plugins listed in docs/architecture.md. */
export function listPlugins(architecture: string): string[] {
  const [, list = ''] = /^ {4}plugins\/([^]*?)^ {4}views\//m.exec(architecture) ?? [];
  return list.match(/^ {6}\w[\w -]*?(?= {2})/gm)?.flatMap((names) => names.trim().split(' ')) ?? [];
}

/** Returns the row of each plugin that can be deleted. */
export function rowsOf(
  { kept, ...rows }: DeletionTable,
  architecture: string,
): Record<string, CapabilityEntry | string> {
  const names = listPlugins(architecture).filter((name) => !kept.includes(name));
  return { ...Object.fromEntries(names.map((name) => [name, {}])), ...rows };
}

/** The row of a capability that is spread over several folders. */
export const notAFolder = 'not a folder yet';

/**
 * Reads the table. A capability consists of its plugin, views and tests, and of everything else that its row lists.
 *
 * @param table rows by name
 * @param find returns the paths that match a glob, relative to the root
 */
export function readCapabilities(
  table: Readonly<Record<string, CapabilityEntry | string>>,
  find: (glob: string) => readonly string[],
): Capability[] {
  return Object.entries(table).map(([name, entry]) => {
    if (typeof entry === 'string') {
      if (entry !== notAFolder) throw new Error(`.ci/deletion.yaml: ${name} must be a map or "${notAFolder}"`);
      if (find(`plugins/${name}`).length > 0)
        throw new Error(`.ci/deletion.yaml: ${name} is a folder now; it is no longer "${notAFolder}"`);
      return { name, of: undefined, lines: [], expected: {} };
    }
    const { of = [], lines = [], expected = {} } = entry;
    const tests = [`test/plugins/${name}`, `test/plugins/${name}[.-]*.ts`].flatMap(find);
    // test/plugins/operator-api does not belong to the plugin `operator`.
    const own = tests.filter((path) => path.endsWith('.ts') || path === `test/plugins/${name}`);
    return { name, of: [`plugins/${name}`, `views/${name}`, ...of].flatMap(find).concat(own), lines, expected };
  });
}

/** Returns one sentence per unexpected failure, and per expected failure that no longer occurs. */
export function compareFailures({ name, expected }: Capability, stage: string, failures: readonly string[]): string[] {
  const known = expected[stage] ?? [];
  return [
    ...failures.filter((failure) => !known.includes(failure)).map((failure) => `${name} (${stage}): ${failure}`),
    ...known
      .filter((failure) => !failures.includes(failure))
      .map((failure) => `${name} (${stage}): no longer fails; take it out of .ci/deletion.yaml: ${failure}`),
  ];
}

/**
 * Finds texts that remaining code uses although they were deleted with the capability. A prefix from which a text is chosen does not count.
 *
 * @param lost keys of the deleted texts
 * @param kept keys of all other texts
 * @param sources remaining code, by path
 */
export function findLostTexts(
  lost: readonly string[],
  kept: ReadonlySet<string>,
  sources: ReadonlyMap<string, string>,
): string[] {
  const gone = new Set(lost.filter((key) => !kept.has(key)));
  return [...sources].flatMap(([file, text]) => {
    const used = new Set(
      [...text.matchAll(/(?<!\bdescribeChoice\()'([a-z][\w.-]*\.[\w.-]+)'/g)].map(([, key = '']) => key),
    );
    return [...used].filter((key) => gone.has(key)).map((key) => `${file}: text "${key}" does not exist`);
  });
}
