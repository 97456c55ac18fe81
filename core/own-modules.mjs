import { existsSync, lstatSync } from 'node:fs';
import { registerHooks } from 'node:module';

const coreUrl = new URL('.', import.meta.url).href;
/** Folders whose modules use these rules. They contain TypeScript or, in a built package, JavaScript. */
const ownFolders = ['core/', 'plugins/', 'migrations/'].map((name) => new URL(`../${name}`, import.meta.url).href);
const [extension, format] = existsSync(new URL('main.ts', import.meta.url))
  ? ['.ts', 'module-typescript']
  : ['.js', 'module'];

const existingUrls = new Set();

/**
 * Resolves the gateway's own modules (`#core/NAME.ts` and relative paths), more than a thousand per start, without Node's look-ups of
 * package.json and of each file, which take a third of the load time. Also resolves relative imports inside packages in node_modules. Node
 * resolves all other imports, and missing modules, because its error names both files.
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
 * Returns the URL of one of the gateway's own modules; undefined for others.
 *
 * @param {string} specifier as written in the import
 * @param {string | undefined} importer URL of the importing module
 * @returns {string | undefined}
 */
export function findOwnModule(specifier, importer) {
  const isInCore = specifier.startsWith('#core/');
  if (importer === undefined || !(isInCore || specifier.startsWith('.'))) return undefined;
  if (!ownFolders.some((folder) => importer.startsWith(folder))) return undefined;
  const url = isInCore ? coreUrl + specifier.slice('#core/'.length) : new URL(specifier, importer).href;
  // A package is built with JavaScript in the place of TypeScript.
  const found = isInCore && url.endsWith('.ts') ? url.slice(0, -'.ts'.length) + extension : url;
  return found.endsWith(extension) && isPresent(found) ? found : undefined;
}

/**
 * Returns false for folders and links: Node looks into folders, and loads a linked file only once.
 *
 * @param {string} url
 */
function isPresent(url) {
  if (existingUrls.has(url)) return true;
  if (lstatSync(new URL(url), { throwIfNoEntry: false })?.isFile() !== true) return false;
  existingUrls.add(url);
  return true;
}

/**
 * Returns the URL of a module that a package imports from its own files; undefined for others.
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
