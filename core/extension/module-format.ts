import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const moduleSyntax = /^\s*(?:import\s*["'{*\w]|export\s*[{*\w])/m;

let isInstalled = false;

/**
 * Loads plugin files as ES modules even in folders whose package.json has `"type": "commonjs"`, which `npm init` writes: there
 * Node.js treats a `.ts` or `.js` file as CommonJS regardless of its syntax. Packages keep the format that their authors chose.
 */
export function acceptModuleSyntax(): void {
  if (isInstalled) return;
  isInstalled = true;
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const format = formats[found.format ?? ''];
      if (format === undefined || !found.url.startsWith('file:') || found.url.includes('/node_modules/')) return found;
      return hasModuleSyntax(found.url) ? { ...found, format } : found;
    },
  });
}

const formats: Readonly<Record<string, string>> = { commonjs: 'module', 'commonjs-typescript': 'module-typescript' };

function hasModuleSyntax(url: string): boolean {
  try {
    return moduleSyntax.test(readFileSync(fileURLToPath(url), 'utf8'));
  } catch {
    return false; // the import itself reports it
  }
}
