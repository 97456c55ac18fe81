/** What is deleted along with a capability, and which resulting failures are expected. */

export interface Capability {
  readonly name: string;
  readonly of: readonly string[] | undefined; // existing files and folders; undefined if the capability is not a single folder
  readonly lines: readonly (readonly string[])[]; // paths in gateway.yaml to remove
  readonly expected: Readonly<Record<string, readonly string[]>>; // failures by stage
}

interface CapabilityEntry {
  readonly of?: readonly string[];
  readonly lines?: readonly (readonly string[])[];
  readonly expected?: Readonly<Record<string, readonly string[]>>;
}

export type DeletionTable = Readonly<Record<string, CapabilityEntry | string>> & { readonly kept: readonly string[] };

export function listPlugins(architecture: string): string[] {
  const [, list = ''] = /^ {4}plugins\/([^]*?)^ {4}views\//m.exec(architecture) ?? [];
  return list.match(/^ {6}\w[\w -]*?(?= {2})/gm)?.flatMap((names) => names.trim().split(' ')) ?? [];
}

export function rowsOf(
  { kept, ...rows }: DeletionTable,
  architecture: string,
): Record<string, CapabilityEntry | string> {
  const names = listPlugins(architecture).filter((name) => !kept.includes(name));
  return { ...Object.fromEntries(names.map((name) => [name, {}])), ...rows };
}

export const notAFolder = 'not a folder yet'; // the row of a capability that is spread over several folders

/** A capability consists of its plugin, views and tests, and of everything else that its row lists. */
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

export function compareFailures({ name, expected }: Capability, stage: string, failures: readonly string[]): string[] {
  const known = expected[stage] ?? [];
  return [
    ...failures.filter((failure) => !known.includes(failure)).map((failure) => `${name} (${stage}): ${failure}`),
    ...known
      .filter((failure) => !failures.includes(failure))
      .map((failure) => `${name} (${stage}): no longer fails; take it out of .ci/deletion.yaml: ${failure}`),
  ];
}

/** A prefix from which a text is chosen does not count. `lost` and `kept` are text keys, `sources` is the remaining code by path. */
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
