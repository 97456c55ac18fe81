/**
 * Writes a release to `release/`: the package, its SBOM (CycloneDX), the licenses of what is installed with it, checksums, and its section
 * of the changelog. Two runs on one commit write the same bytes.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { licenceOf, type PackageLicence } from './licences.ts';

const root = join(import.meta.dirname, '..');
const out = join(root, 'release');
const run = promisify(execFile);

await rm(out, { recursive: true, force: true });
await mkdir(out);
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { readonly version: string };
await npm('pack', '--pack-destination', out);
await checkRepeatable();
await writeFile(join(out, `daypass-${version}.cdx.json`), await createBillOfMaterials());
await writeFile(join(out, `daypass-${version}-licences.txt`), await collectLicences());
await writeFile(join(out, 'NOTES.md'), await readNotes());
const files = (await readdir(out)).toSorted();
const sums = await Promise.all(
  files.map(
    async (name) =>
      `${createHash('sha256')
        .update(await readFile(join(out, name)))
        .digest('hex')}  ${name}\n`,
  ),
);
await writeFile(join(out, 'SHA256SUMS'), sums.join(''));
for (const line of sums) process.stdout.write(line);

/** Builds and packs again, because users compare checksums with a build of their own. */
async function checkRepeatable(): Promise<void> {
  const again = await mkdtemp(join(tmpdir(), 'daypass-release-'));
  try {
    await npm('pack', '--pack-destination', again);
    const [name = ''] = await readdir(again);
    const [first, second] = await Promise.all([readFile(join(out, name)), readFile(join(again, name))]);
    if (!first.equals(second)) throw new Error(`two builds of ${name} differ`);
  } finally {
    await rm(again, { recursive: true, force: true });
  }
}

async function npm(...words: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
  const { stdout } = await run('npm', words, { cwd: root, env, maxBuffer: 256 * 1024 * 1024 });
  return stdout;
}

/** Omits the time and the serial number, which npm makes up for each run. */
async function createBillOfMaterials(): Promise<string> {
  const words = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev', '--package-lock-only'];
  const sbom = JSON.parse(await npm(...words, '--workspaces=false')) as {
    serialNumber?: string;
    metadata: { timestamp?: string; component: { name: string } };
  };
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  // npm would use the folder's name.
  sbom.metadata.component.name = 'daypass';
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

/** Packages of other platforms are not installed, so only their names are listed. */
async function collectLicences(): Promise<string> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Record<string, PackageLicence & { dev?: boolean; link?: boolean; version?: string }>;
  };
  const shipped = Object.entries(lock.packages).filter(
    ([path, { dev, link }]) => path.startsWith('node_modules/') && dev !== true && link !== true && !isNode(path),
  );
  const texts = await Promise.all(
    shipped.map(async ([path, locked]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const folder = join(root, path);
      const file = existsSync(folder)
        ? (await readdir(folder)).find((one) => /^licen[cs]e|^copying/i.test(one))
        : undefined;
      const text = file === undefined ? '' : `\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
      return `${name} ${locked.version ?? ''}: ${licenceOf(locked) ?? 'see its repository'}\n${text}`;
    }),
  );
  return texts.toSorted().join(`\n${'-'.repeat(78)}\n\n`);
}

/** A checkout installs Node.js, which is not published. */
function isNode(path: string): boolean {
  return /^node_modules\/node-(?:bin-)?(?:darwin|linux|win)-/.test(path);
}

async function readNotes(): Promise<string> {
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8');
  const [, notes] = changelog.split(new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\].*$`, 'm'));
  if (notes === undefined) throw new Error(`CHANGELOG.md has no section ${version}`);
  return `${notes.split(/^## \[/m)[0]?.trim()}\n`;
}
