/**
 * Checks what is installed: every package has a licence that this project may use, and none has a known severe vulnerability.
 * Vulnerabilities are asked of the registry; when it does not answer in time, the output says so and the build goes on.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAudit } from './audit.ts';
import { isAllowed, licenceOf, type PackageLicence } from './licences.ts';

const root = join(import.meta.dirname, '..');

/** Seconds for the registry to answer. */
const auditTimeout = 15;

/** Packages whose package.json names no licence, with the licence of their repository. */
const undeclared: Readonly<Record<string, string>> = {
  'htmx-ext-sse': '0BSD', // https://github.com/bigskysoftware/htmx-extensions/blob/main/LICENSE
};

interface Locked extends PackageLicence {
  readonly dev?: boolean;
  readonly link?: boolean;
}

const auditing = audit();
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>;
};
// A link leads to a folder of this project, which is listed by its own path.
const installed = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);
const refused = installed.flatMap(([path, locked]) => {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const licence = licenceOf(declared(path) ?? locked) ?? undeclared[name];
  if (licence !== undefined && isAllowed(licence, locked.dev === true)) return [];
  return [`${path}: ${licence === undefined ? 'declares no licence' : `the licence ${licence} is not allowed`}`];
});
for (const line of refused) console.error(line);
if (refused.length === 0) console.log(`licences: ${installed.length} packages, all permissive`);

const { severe, mild, skipped } = readAudit(await auditing);
for (const line of severe) console.error(line);
for (const line of mild) console.log(line);
if (skipped !== undefined) console.log(`audit: skipped, vulnerabilities are not known (${skipped})`);
else console.log(`audit: ${severe.length} severe and ${mild.length} other vulnerabilities`);
if (refused.length + severe.length > 0) process.exitCode = 1;

/** The package.json of a package; undefined for one of another platform, which is not installed here. */
function declared(path: string): PackageLicence | undefined {
  const file = join(root, path, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PackageLicence) : undefined;
}

/** The output of npm, which exits with 1 when it has found something; empty when it took too long or is not there. */
function audit(): Promise<string> {
  const limits = ['--fetch-retries=0', `--fetch-timeout=${auditTimeout * 1000}`];
  return new Promise((resolve) => {
    execFile(
      'npm',
      ['audit', '--json', ...limits],
      { cwd: root, timeout: auditTimeout * 1000, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout) => resolve(stdout),
    );
  });
}
