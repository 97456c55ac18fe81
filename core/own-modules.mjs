import { existsSync, lstatSync } from 'node:fs';
import { registerHooks } from 'node:module';

const core = new URL('.', import.meta.url).href;
/** Folders whose modules import each other by the rules below: the sources, or what a package was built from them. */
const own = ['core/', 'plugins/', 'migrations/'].map((name) => new URL(`../${name}`, import.meta.url).href);
const [extension, format] = existsSync(new URL('main.ts', import.meta.url))
  ? ['.ts', 'module-typescript']
  : ['.js', 'module'];

/** URLs of modules that are there. */
const present = new Set();

/**
 * Resolves the gateway's own modules, of which a start loads more than a thousand: `#core/NAME.ts` and relative paths. Node.js would look
 * for a package.json and at the file for each import, a third of the time that loading them takes. So are files that a package under
 * node_modules names by relative paths. Other imports are left to Node.js, as are modules that are missing: its error names the file and
 * the importing one.
 */
export function resolveOwnModules() {
  registerHooks({
    resolve(specifier, context, next) {
      const url = findOwnModule(specifier, context.parentURL);
      if (url !== undefined) return { url, format, shortCircuit: true };
      const inner = findPackageModule(specifier, context.parentURL);
      return inner === undefined ? next(specifier, context) : { url: inner, shortCircuit: true };
    },
  });
}

/**
 * The URL of one of the gateway's own modules; undefined for any other.
 *
 * @param {string} specifier as written in the import
 * @param {string | undefined} importer URL of the importing module
 * @returns {string | undefined}
 */
export function findOwnModule(specifier, importer) {
  const isInCore = specifier.startsWith('#core/');
  if (importer === undefined || !(isInCore || specifier.startsWith('.'))) return undefined;
  if (!own.some((folder) => importer.startsWith(folder))) return undefined;
  const url = isInCore ? core + specifier.slice('#core/'.length) : new URL(specifier, importer).href;
  // A package is built with JavaScript in the place of TypeScript.
  const found = isInCore && url.endsWith('.ts') ? url.slice(0, -'.ts'.length) + extension : url;
  return found.endsWith(extension) && isPresent(found) ? found : undefined;
}

/**
 * Returns true for the URL of a file. Folders and links are left to Node.js: it looks into folders, and loads a file once by whatever name.
 *
 * @param {string} url
 */
function isPresent(url) {
  if (present.has(url)) return true;
  if (lstatSync(new URL(url), { throwIfNoEntry: false })?.isFile() !== true) return false;
  present.add(url);
  return true;
}

/**
 * The URL of a module that a package imports from its own files; undefined for any other.
 *
 * @param {string} specifier as written in the import
 * @param {string | undefined} importer URL of the importing module
 * @returns {string | undefined}
 */
export function findPackageModule(specifier, importer) {
  if (!importer?.includes('/node_modules/') || !/^\.\.?\/.*\.js$/.test(specifier)) return undefined;
  const { href } = new URL(specifier, importer);
  return isPresent(href) ? href : undefined;
}
