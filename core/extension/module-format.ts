import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const moduleSyntax = /^\s*(?:import\s*["'{*\w]|export\s*[{*\w])/m;

const equivalentModuleFormats: Readonly<Record<string, string>> = {
  commonjs: 'module',
  'commonjs-typescript': 'module-typescript',
};

let isInstalled = false;

/**
 * Loads plugin files as ES modules even in folders whose package.json says `"type": "commonjs"`, as `npm init` writes it. Node would treat
 * every `.ts` and `.js` file there as CommonJS, regardless of its syntax. Installed packages keep the format that they declare.
 */
export function acceptModuleSyntax(): void {
  if (isInstalled) return;
  isInstalled = true;
  registerHooks({
    resolve(specifier, context, next) {
      const resolution = next(specifier, context);
      const { url } = resolution;
      const format = equivalentModuleFormats[resolution.format ?? ''];
      if (format === undefined || !url.startsWith('file:') || url.includes('/node_modules/')) return resolution;
      return hasModuleSyntax(url) ? { ...resolution, format } : resolution;
    },
  });
}

function hasModuleSyntax(url: string): boolean {
  try {
    return moduleSyntax.test(readFileSync(fileURLToPath(url), 'utf8'));
  } catch {
    return false; // the import itself will report the error
  }
}
