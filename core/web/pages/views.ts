import { join, resolve } from 'node:path';
import type { AssetSource, Page } from './page.ts';

/** Templates, styles and browser scripts: a folder for each plugin, `shell/` and `parts/`. */
export const viewsFolder = join(import.meta.dirname, '..', '..', '..', 'views');

const resolveView = (path: string) => resolve(viewsFolder, path);

export function resolveAssetPath(source: AssetSource): AssetSource {
  return { ...source, path: resolveView(source.path) };
}

export function resolveTemplatePaths(page: Page): Page {
  const { template, live } = page;
  const parts = Object.entries(live?.parts ?? {}).map(([name, path]) => [name, resolveView(path)] as const);
  return {
    ...page,
    ...(template !== undefined && { template: resolveView(template) }),
    ...(live !== undefined && { live: { ...live, parts: Object.fromEntries(parts) } }),
  };
}
