/**
 * Checks the installed packages: each must have a license that this project may use, and none a known severe vulnerability. Vulnerabilities
 * come from the registry; if it does not respond in time, the output says so and the build continues.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAudit } from './audit.ts';
import { isAllowed, licenceOf, type PackageLicence } from './licences.ts';

const root = join(import.meta.dirname, '..');

const auditTimeoutSeconds = 15;

/** Packages whose package.json declares no license, and the license of their repository. */
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
// A link points to a folder of this project, which is listed under its own path.
const installed = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);
const refused = installed.flatMap(([path, locked]) => {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const licence = licenceOf(readInstalledManifest(path) ?? locked) ?? undeclared[name];
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

/** Returns undefined for packages of other platforms, which are not installed. */
function readInstalledManifest(path: string): PackageLicence | undefined {
  const file = join(root, path, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PackageLicence) : undefined;
}

/** npm's exit code is 1 if it found something. Returns '' if npm took too long or is missing. */
function audit(): Promise<string> {
  const limits = ['--fetch-retries=0', `--fetch-timeout=${auditTimeoutSeconds * 1000}`];
  return new Promise((resolve) => {
    execFile(
      'npm',
      ['audit', '--json', ...limits],
      { cwd: root, timeout: auditTimeoutSeconds * 1000, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout) => resolve(stdout),
    );
  });
}
